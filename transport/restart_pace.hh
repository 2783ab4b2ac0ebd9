// Paces the window over a round trip after an idle period: there are no ACKs to clock it out, so that it
// would leave in one burst.
//
// An initial window may still leave at once (RFC 9002, section 7.7), so that a short response is not delayed.
// Schemes with a pacing rate use that instead.
#pragma once

#include <cstdint>
#include <optional>

#include "transport/congestion_controller.hh"

namespace ccgym {

class RestartPace {
 public:
  // Packet `seq` ends an idle period.
  void begin(Time now, uint64_t seq, int64_t cwnd_bytes, Time smoothed_rtt) {
    paced_from_ = seq + static_cast<uint64_t>(kInitialWindowPackets);
    ends_at_ = now + smoothed_rtt;
    rate_ = Rate::of(static_cast<double>(cwnd_bytes), smoothed_rtt);
  }

  [[nodiscard]] bool is_over(Time now) const { return now >= ends_at_; }
  // The pacing rate of packet `next_seq`; `pacing_rate`, if the controller sets one, is used instead.
  [[nodiscard]] std::optional<Rate> rate(Time now, uint64_t next_seq,
                                         const std::optional<Rate>& pacing_rate) const {
    if (is_over(now) || next_seq < paced_from_ || pacing_rate) return pacing_rate;
    return rate_;
  }

 private:
  uint64_t paced_from_{0};
  Time ends_at_{};
  std::optional<Rate> rate_{};
};

}  // namespace ccgym
