// One direction of a path: its link, and the elements before and behind the link.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "envs/twin/link.hh"
#include "envs/twin/path.hh"
#include "transport/random.hh"

namespace ccgym {

// mm-onoff. A time earlier than that of the last call is taken for the latter.
class OnOffGate {
 public:
  OnOffGate(const OnOffSpec& spec, uint64_t seed);

  bool on(int64_t ns);

 private:
  int64_t sojourn_ns(double mean_ms);

  OnOffSpec spec_;
  Random random_;
  bool on_{true};
  int64_t ends_ns_{kNeverNs};
};

// mm-delay, also with a delay that changes: a packet never overtakes the one before it. Arguments must not
// decrease.
class DelayLine {
 public:
  explicit DelayLine(const PathSpec& path);

  // When a packet that enters at `ns` leaves.
  int64_t leaves_ns(int64_t ns);

  [[nodiscard]] bool varies() const { return cursor_.has_value(); }
  [[nodiscard]] int64_t constant_ns() const { return delay_ns_; }

 private:
  Timing timing_;
  int64_t delay_ns_;
  std::shared_ptr<const StepFunction> varying_ms_;
  std::optional<StepCursor> cursor_{};
  int64_t last_leaves_ns_{0};
};

// The elements on one side of a link, in the order in which a packet meets them.
class ElementChain {
 public:
  ElementChain(const PathSpec& path, const LinkSpec& link, uint64_t seed)
      : delay_(path), loss_(link.loss), interrupted_(link.onoff.mean_on_ms > 0), gate_(link.onoff, seed) {}

  void add(Element element);

  [[nodiscard]] bool draws() const { return loses_; }

  // When a packet that enters at `ns` leaves; kNeverNs when it is lost on the way. `ns` must not decrease.
  int64_t pass(int64_t ns, Random& random) {
    if (plain_) return ns + plain_delay_ns_;
    return pass_elements(ns, random);
  }

 private:
  enum class GatePlace { none, before_delay, behind_delay };  // of mm-onoff

  int64_t pass_elements(int64_t ns, Random& random);

  bool plain_{true};  // nothing but a constant delay, which is the usual case
  int64_t plain_delay_ns_{0};
  DelayLine delay_;
  double loss_;
  bool interrupted_;
  OnOffGate gate_;
  bool delays_{false};
  bool loses_{false};
  GatePlace gate_place_{GatePlace::none};
};

enum class Way { up, down };

class Direction {
 public:
  Direction(const PathSpec& path, Way way, uint64_t seed)
      : Direction(path, way == Way::up ? path.uplink : path.downlink, way, Random{seed}) {}

  // What the network's clock shows at `ns`.
  [[nodiscard]] int64_t clock(int64_t ns) const { return clock_ns(timing_, ns); }
  // When a packet reaches the link if it is sent when the clock shows `ns`; kNeverNs: it is lost before.
  int64_t reach_link(int64_t ns, Random& random) { return before_.pass(ns, random); }
  // When a packet that leaves the link at `ns` reaches the end; kNeverNs: it is lost behind the link.
  int64_t reach_end(int64_t ns, Random& random) { return behind_.pass(ns, random); }

  // Whether `reach_link` and `reach_end` draw random numbers.
  [[nodiscard]] bool draws_before() const { return before_.draws(); }
  [[nodiscard]] bool draws_behind() const { return behind_.draws(); }

  TwinLink link;

 private:
  Direction(const PathSpec& path, const LinkSpec& spec, Way way, Random seeds);

  Timing timing_;
  ElementChain before_;
  ElementChain behind_;
};

}  // namespace ccgym
