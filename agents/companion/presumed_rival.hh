// A rival that a new flow presumes by the queue that it meets.
//
// A short flow has ended before its probes have told whether somebody fills the queue. So one that meets a
// long queue takes a rival for certain, for some round trips. Then it steps back, as beside its own kind, and
// watches for some more: if its share of the link falls, the rival has not stepped back. Unless others have
// drained the queue meanwhile: then its own kind is there, and shares move.
#pragma once

#include <cstdint>
#include <optional>

#include "agents/companion/standing_queue.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

class PresumedRival {
 public:
  // Whether a rival is presumed from now on.
  bool on_ack(Time now, const RttStats& rtt) { return phase_ == Phase::looking && look(now, rtt); }
  void on_probe_result() {  // tells more than the queue that was met
    if (phase_ == Phase::looking) end();
  }
  // After the presumption: `share` is what the flow has had of the link meanwhile, if it knows.
  void step_back(Time now, Time smoothed_rtt, std::optional<double> share);
  void end() { phase_ = Phase::ended; }

  [[nodiscard]] bool on() const { return phase_ == Phase::presumed; }
  [[nodiscard]] bool watches() const { return phase_ == Phase::watching; }
  [[nodiscard]] bool expired(Time now) const { return now > until_; }  // either of them
  [[nodiscard]] bool confirmed_by(double share);                       // the flow's, while it watches

 private:
  enum class Phase : uint8_t { looking, presumed, watching, ended };

  bool look(Time now, const RttStats& rtt);

  Phase phase_{Phase::looking};
  Time until_{};
  double most_share_{0};  // since it has stepped back
  StandingQueue met_queue_{};
};

}  // namespace ccgym
