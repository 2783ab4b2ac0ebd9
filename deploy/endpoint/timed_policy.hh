// A decorator of a policy that measures how long each decision takes.
#pragma once

#include <memory>
#include <utility>

#include "deploy/endpoint/clock.hh"
#include "deploy/endpoint/histogram.hh"
#include "transport/forwarding_controller.hh"

namespace ccgym {

class TimedPolicy final : public ForwardingController<Cloned<CongestionController>> {
 public:
  explicit TimedPolicy(std::unique_ptr<CongestionController> policy)
      : ForwardingController{std::move(policy)} {}

  void on_timer(Time now, const Timer& timer) override {
    const Time start = monotonic_now();
    inner().on_timer(now, timer);
    decision_times_.add(monotonic_now() - start);
  }
  [[nodiscard]] std::unique_ptr<CongestionController> clone() const override {
    return std::make_unique<TimedPolicy>(*this);
  }

  [[nodiscard]] const DurationHistogram& decision_times() const { return decision_times_; }

 private:
  DurationHistogram decision_times_{};
};

}  // namespace ccgym
