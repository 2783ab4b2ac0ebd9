// The marking of DCTCP's switches (Alizadeh et al., SIGCOMM 2010, section 3.1; RFC 8257, section 3.1): a
// packet that finds more than a threshold waiting is marked, or dropped if its flow does not use ECN.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "envs/twin/queues/discipline.hh"
#include "envs/twin/queues/parameters.hh"

namespace ccgym {

class Step final : public QueueDiscipline {
 public:
  static constexpr std::string_view kName = "step";
  struct Parameters {
    int64_t threshold_packets{};
  };
  static constexpr std::array kParameters{
      needed("threshold_packets", &Parameters::threshold_packets, 1, 1e6)};

  Step(const Parameters& parameters, const QueueSetting& /*setting*/)
      : threshold_packets_(parameters.threshold_packets) {}

  void enqueue(const LinkPacket& packet, WaitingLine& line, DroppedPackets& dropped) override;
  [[nodiscard]] std::unique_ptr<QueueDiscipline> clone() const override {
    return std::make_unique<Step>(*this);
  }

 private:
  int64_t threshold_packets_;
};

}  // namespace ccgym
