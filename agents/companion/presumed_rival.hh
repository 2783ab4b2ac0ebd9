// A rival that a new flow presumes because of the queue that it finds.
//
// A short flow ends before its probes have told whether a rival fills the queue. So a flow that finds a long
// queue takes a rival for certain, for some round trips. Then it steps back, as beside its own kind, and
// watches its share of the link for some more: if the share falls, the rival has not stepped back, and is
// confirmed. The watch ends early if others have drained the queue meanwhile: then flows of our kind are
// there, whose shares change anyway.
#pragma once

#include <cstdint>
#include <optional>

#include "agents/companion/standing_queue.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

class PresumedRival {
 public:
  // Returns whether a rival is presumed from now on.
  bool on_ack(Time now, const RttStats& rtt) { return phase_ == Phase::looking && look(now, rtt); }
  void on_probe_result() {  // it tells more than the queue at the start
    if (phase_ == Phase::looking) end();
  }
  // From presuming to watching. `share`: the flow's share of the link meanwhile, if known.
  void step_back(Time now, Time smoothed_rtt, std::optional<double> share);
  void end() { phase_ = Phase::ended; }

  [[nodiscard]] bool on() const { return phase_ == Phase::presumed; }
  [[nodiscard]] bool watches() const { return phase_ == Phase::watching; }
  [[nodiscard]] bool expired(Time now) const { return now > until_; }  // the presumption, or the watch
  [[nodiscard]] bool confirmed_by(double share);  // the flow's share of the link, while it watches

 private:
  enum class Phase : uint8_t { looking, presumed, watching, ended };

  bool look(Time now, const RttStats& rtt);

  Phase phase_{Phase::looking};
  Time until_{};
  double most_share_{0};  // the largest since the flow stepped back
  StandingQueue met_queue_{};
};

}  // namespace ccgym
