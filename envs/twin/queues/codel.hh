// CoDel (Nichols, Jacobson: Controlling Delay, ACM Queue 2012; RFC 8289) as mahimahi has it: when packets are
// to be dropped, the one at the head is still delivered and those behind it are dropped. With `ecn`, packets
// of flows that use ECN are marked instead and stay; one mark per departure is enough.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "envs/twin/queues/discipline.hh"
#include "envs/twin/queues/parameters.hh"

namespace ccgym {

class CoDel final : public QueueDiscipline {
 public:
  static constexpr std::string_view kName = "codel";
  struct Parameters {
    int64_t target_ms{};
    int64_t interval_ms{};
    bool ecn{false};
  };
  static constexpr std::array kParameters{needed("target_ms", &Parameters::target_ms, 1, 60'000),
                                          needed("interval_ms", &Parameters::interval_ms, 1, 60'000),
                                          optional("ecn", &Parameters::ecn, 0, 1)};

  CoDel(const Parameters& parameters, const QueueSetting& setting);

  void dequeue(int64_t now_ns, WaitingLine& line, LinkPacket& head, DroppedPackets& dropped) override;
  [[nodiscard]] std::unique_ptr<QueueDiscipline> clone() const override {
    return std::make_unique<CoDel>(*this);
  }

 private:
  bool stays_above_target(int64_t now, const LinkPacket& packet, const WaitingLine& line);
  bool drop_head(int64_t now, WaitingLine& line, DroppedPackets& dropped);
  void begin_dropping(int64_t now);
  [[nodiscard]] int64_t control_law(int64_t from) const;

  // The names are RFC 8289's. Times are in ticks: whole milliseconds in mahimahi's timing, to which the
  // control law is rounded down.
  int64_t tick_ns_;
  int64_t target_;
  int64_t interval_;
  bool ecn_;
  int64_t first_above_{0};  // when the delay will have been above the target for an interval; 0: it is below
  int64_t drop_next_{0};    // time of the next drop
  uint32_t count_{0};       // drops since dropping began
  uint32_t last_count_{0};  // count_ when dropping began
  bool dropping_{false};
};

}  // namespace ccgym
