// A rival that a new flow presumes by the queue that it meets.
//
// A short flow has ended before its probes have told whether somebody fills the queue. So one that meets a
// long queue takes a rival for certain, for some round trips.
#pragma once

#include <cstdint>

#include "agents/policy/standing_queue.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

class PresumedRival {
 public:
  // Whether a rival is presumed from now on.
  bool on_ack(Time now, const RttStats& rtt) { return phase_ == Phase::looking && look(now, rtt); }
  void on_probe_result() {  // tells more than the queue that was met
    if (phase_ == Phase::looking) end();
  }
  void end() { phase_ = Phase::ended; }

  [[nodiscard]] bool on() const { return phase_ == Phase::presumed; }
  [[nodiscard]] bool expired(Time now) const { return on() && now > until_; }

 private:
  enum class Phase : uint8_t { looking, presumed, ended };

  bool look(Time now, const RttStats& rtt);

  Phase phase_{Phase::looking};
  Time until_{};
  StandingQueue met_queue_{};
};

}  // namespace ccgym
