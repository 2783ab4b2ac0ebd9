// A decorator: passes every call on to the controller that it holds. Derived classes override some of the
// calls.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "transport/cloned.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

// `Held` is a controller class, or Cloned<CongestionController> for a controller of any class.
template <class Held>
class ForwardingController : public CongestionController {
 public:
  explicit ForwardingController(Held held) : held_{std::move(held)} {}

  [[nodiscard]] std::string_view name() const override { return inner().name(); }
  [[nodiscard]] bool wants_ecn() const override { return inner().wants_ecn(); }
  void on_sent(Time now, const SentPacket& packet) override { inner().on_sent(now, packet); }
  void on_ack(Time now, const AckEvent& ack) override { inner().on_ack(now, ack); }
  void on_timeout(Time now, const Timeout& timeout) override { inner().on_timeout(now, timeout); }
  void on_spurious_loss(Time now, const SpuriousLoss& loss) override { inner().on_spurious_loss(now, loss); }
  void on_restart(Time now, Time idle) override { inner().on_restart(now, idle); }
  [[nodiscard]] std::optional<Time> next_timer() const override { return inner().next_timer(); }
  void on_timer(Time now, const Timer& timer) override { inner().on_timer(now, timer); }
  [[nodiscard]] SendLimits limits() const override { return inner().limits(); }
  [[nodiscard]] std::vector<Metric> metrics() const override { return inner().metrics(); }

 protected:
  [[nodiscard]] auto& inner() { return controller_of(held_); }
  [[nodiscard]] const auto& inner() const { return controller_of(held_); }

 private:
  static auto& controller_of(auto& held) {
    if constexpr (requires { *held; }) {
      return *held;
    } else {
      return held;
    }
  }

  Held held_;
};

}  // namespace ccgym
