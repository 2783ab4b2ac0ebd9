// A controller whose decisions are timed: it passes everything on and notes how long each step took.
#pragma once

#include <optional>
#include <string_view>

#include "deploy/endpoint/clock.hh"
#include "deploy/endpoint/histogram.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

class TimedPolicy final : public CongestionController {
 public:
  explicit TimedPolicy(CongestionController& policy) : policy_(policy) {}

  [[nodiscard]] std::string_view name() const override { return policy_.name(); }
  void on_sent(Time now, const SentPacket& packet) override { policy_.on_sent(now, packet); }
  void on_ack(Time now, const AckedPacket& packet) override { policy_.on_ack(now, packet); }
  void on_loss(Time now, const Loss& loss) override { policy_.on_loss(now, loss); }
  [[nodiscard]] std::optional<Time> next_timer() const override { return policy_.next_timer(); }
  void on_timer(Time now) override {
    const Time start = monotonic_now();
    policy_.on_timer(now);
    decision_times_.add(monotonic_now() - start);
  }
  [[nodiscard]] SendLimits limits() const override { return policy_.limits(); }

  [[nodiscard]] const DurationHistogram& decision_times() const { return decision_times_; }

 private:
  CongestionController& policy_;
  DurationHistogram decision_times_{};
};

}  // namespace ccgym
