// One direction of a path: its link, and what a packet meets before and behind it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>

#include "envs/twin/link.hh"
#include "envs/twin/path.hh"
#include "envs/twin/random.hh"

namespace ccgym {

// mm-onoff. Of a time before the last one asked for, it tells what holds at that one.
class OnOffGate {
 public:
  OnOffGate(const OnOffSpec& spec, uint64_t seed) : spec_(spec), random_(seed) {
    if (spec.mean_on_ms > 0) ends_ns_ = sojourn_ns(spec.mean_on_ms);
  }

  bool on(int64_t ns) {
    while (ns >= ends_ns_) {
      on_ = !on_;
      ends_ns_ += sojourn_ns(on_ ? spec_.mean_on_ms : spec_.mean_off_ms);
    }
    return on_;
  }

 private:
  // Cut to whole milliseconds, as mahimahi does.
  int64_t sojourn_ns(double mean_ms) {
    return static_cast<int64_t>(std::min(random_.exponential(mean_ms), kLongestMs)) * kNsPerMs;
  }

  static constexpr double kLongestMs = 1 << 30;

  OnOffSpec spec_;
  Random random_;
  bool on_{true};
  int64_t ends_ns_{kNeverNs};
};

// mm-delay, and one whose delay changes: a packet never overtakes the one before it. Times asked for must
// not decrease.
class DelayLine {
 public:
  explicit DelayLine(const PathSpec& path)
      : timing_(path.timing), delay_ns_(as_ns(path.delay_ms)), varying_ms_(path.varying_delay_ms) {
    if (varying_ms_ != nullptr) cursor_.emplace(*varying_ms_);
  }

  // When a packet that enters at `ns` leaves.
  int64_t leaves_ns(int64_t ns) {
    if (!cursor_) return ns + delay_ns_;
    const double now_ms = static_cast<double>(ns) / static_cast<double>(kNsPerMs);
    last_leaves_ns_ = std::max(last_leaves_ns_, clock_ns(timing_, ns + as_ns(cursor_->value_at(now_ms))));
    return last_leaves_ns_;
  }

 private:
  static int64_t as_ns(double ms) { return std::llround(ms * static_cast<double>(kNsPerMs)); }

  Timing timing_;
  int64_t delay_ns_;
  std::shared_ptr<const StepFunction> varying_ms_;
  std::optional<StepCursor> cursor_{};
  int64_t last_leaves_ns_{0};
};

// The elements on one side of a link, in the order in which a packet meets them.
class Stretch {
 public:
  Stretch(const PathSpec& path, const LinkSpec& link, uint64_t seed)
      : delay_(path),
        link_loss_(link.loss),
        gate_(link.onoff, seed),
        interrupts_(link.onoff.mean_on_ms > 0) {}

  void add(Element element) {
    if (element == Element::delay) delays_ = true;
    if (element == Element::loss) loss_ = link_loss_;
    if (element == Element::onoff && interrupts_)
      gates_ = delays_ ? Gates::behind_delay : Gates::before_delay;
  }

  // When a packet that enters at `ns` leaves; kNeverNs when it is lost on the way. `ns` must not decrease.
  int64_t pass(int64_t ns, Random& random) {
    if (loss_ == 0 && gates_ == Gates::none) return delays_ ? delay_.leaves_ns(ns) : ns;
    return pass_hazards(ns, random);
  }

 private:
  enum class Gates { none, before_delay, behind_delay };

  [[gnu::noinline]] int64_t pass_hazards(int64_t ns, Random& random) {
    if (random.chance(loss_)) return kNeverNs;
    if (gates_ == Gates::before_delay && !gate_.on(ns)) return kNeverNs;
    const int64_t leaves_ns = delays_ ? delay_.leaves_ns(ns) : ns;
    if (gates_ == Gates::behind_delay && !gate_.on(leaves_ns)) return kNeverNs;
    return leaves_ns;
  }

  DelayLine delay_;
  double link_loss_;
  double loss_{0};
  OnOffGate gate_;
  bool interrupts_;
  bool delays_{false};
  Gates gates_{Gates::none};
};

enum class Way { up, down };

class Direction {
 public:
  Direction(const PathSpec& path, Way way, uint64_t seed)
      : Direction(path, way == Way::up ? path.uplink : path.downlink, way, Random{seed}) {}

  // When a packet that sets out at `ns` reaches the link; kNeverNs when it is lost before.
  int64_t reach_link(int64_t ns, Random& random) { return before_.pass(clock_ns(timing_, ns), random); }
  // When a packet that leaves the link at `ns` is through; kNeverNs when it is lost behind it.
  int64_t reach_end(int64_t ns, Random& random) { return behind_.pass(ns, random); }

  TwinLink link;

 private:
  Direction(const PathSpec& path, const LinkSpec& spec, Way way, Random seeds)
      : link(spec.schedule, spec.queue, path.timing, seeds.bits()),
        timing_(path.timing),
        before_(path, spec, seeds.bits()),
        behind_(path, spec, seeds.bits()) {
    Nesting order = path.nesting;  // as a packet meets them
    if (way == Way::up) std::ranges::reverse(order);
    const auto* const at = std::ranges::find(order, Element::link);
    std::for_each(order.cbegin(), at, [this](Element element) { before_.add(element); });
    std::for_each(at, order.cend(), [this](Element element) { behind_.add(element); });
  }

  Timing timing_;
  Stretch before_;
  Stretch behind_;
};

}  // namespace ccgym
