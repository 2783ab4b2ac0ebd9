// mahimahi's drophead: an arriving packet is taken, and the one that has waited longest is dropped for it.
#pragma once

#include <array>
#include <string_view>

#include "envs/twin/queues/discipline.hh"
#include "envs/twin/queues/parameters.hh"

namespace ccgym {

class DropHead final : public QueueDiscipline {
 public:
  static constexpr std::string_view kName = "drophead";
  struct Parameters {};
  static constexpr std::array<QueueParameter<Parameters>, 0> kParameters{};

  DropHead(const Parameters& /*parameters*/, const QueueSetting& /*setting*/) {}

  void enqueue(const LinkPacket& packet, WaitingLine& line, DroppedPackets& dropped) override {
    line.push(packet);
    while (line.too_long()) line.pop(dropped.emplace_back());
  }
  [[nodiscard]] std::unique_ptr<QueueDiscipline> clone() const override {
    return std::make_unique<DropHead>(*this);
  }
};

}  // namespace ccgym
