// Sprout (NSDI 2013): the window is what the link delivers within 100 ms with a probability of 95 %.
//
// In the paper the receiver infers the rate of the link and sends its forecasts to the sender. Here the
// sender infers it, from the number of ACKs in each tick. The sender knows whether the link's queue held
// packets, which the paper's receiver has to be told by time-to-next marks (section 3.2).
#pragma once

#include <deque>

#include "agents/controllers/sprout/rate_belief.hh"
#include "transport/congestion_controller.hh"
#include "transport/windowed_filter.hh"

namespace ccgym {

class Sprout final : public CongestionController {
 public:
  explicit Sprout(int64_t packet_bytes);

  [[nodiscard]] std::string_view name() const override { return "sprout"; }
  void on_sent(Time now, const SentPacket& packet) override;
  void on_ack(Time now, const AckEvent& ack) override;
  void on_timeout(Time now, const Timeout& timeout) override;
  [[nodiscard]] std::optional<Time> next_timer() const override { return next_tick_; }
  void on_timer(Time now, const Timer& timer) override;
  [[nodiscard]] SendLimits limits() const override { return {.cwnd_bytes = cwnd_bytes_}; }
  [[nodiscard]] std::unique_ptr<CongestionController> clone() const override {
    return std::make_unique<Sprout>(*this);
  }

  [[nodiscard]] const RateBelief& belief() const { return belief_; }

 private:
  // A packet sent after the newest one that was acknowledged or declared lost. An older packet no longer
  // waits in the link's queue, even if the sender still counts it as in flight.
  struct Outstanding {
    uint64_t seq{};
    Time sent_at{};
  };

  void settle(uint64_t seq);
  [[nodiscard]] bool link_is_backlogged(Time now) const;

  int64_t packet_bytes_;
  RateBelief belief_{};
  std::deque<Outstanding> outstanding_{};
  WindowedMin<Time> min_rtt_{};
  int packets_in_tick_{0};
  std::optional<Time> next_tick_{};
  int64_t cwnd_bytes_;
};

}  // namespace ccgym
