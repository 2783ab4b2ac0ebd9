// Drains the bottleneck's queue now and then, so that every flow on it can measure the base RTT of its path.
//
// A flow that arrives at a standing queue takes the queue for a part of the path and claims more than its
// share, as Vegas does. So a flow that has not seen the queue empty for some round trips keeps its window,
// for one round trip, below what the path alone would hold. All flows see an empty queue at the same time,
// and each restarts its clock there: from then on they drain together (as in BBR's ProbeRTT, but every few
// round trips and not every 10 s).
//
// In some of its probes, chosen at random, a flow does not drain but only observes the queue: if the queue
// falls nevertheless, another flow has drained it. A flow that knows of no other flow mostly observes,
// because a drain costs throughput.
#pragma once

#include <cstdint>
#include <optional>

#include "agents/companion/return_jitter.hh"
#include "agents/companion/standing_queue.hh"
#include "transport/congestion_controller.hh"
#include "transport/random.hh"

namespace ccgym {

// What a probe has shown. In a probe the flow either drains the queue or only observes it.
struct ProbeResult {
  double cwnd_packets{0};  // before the probe
  Time smoothed_rtt{};     // before the probe
  Time queueing{};         // before the probe: smoothed RTT less min RTT
  double left{0};          // share of the queue that is left: little if it was ours, or others drained too
  bool detected{true};     // the queue was long enough to see it fall; always true of our own drains
  bool ours{true};         // this flow drained; false: it only observed
};

// How much a drain is worth to the flow: each one costs throughput.
enum class Urgency : uint8_t {
  low,          // the flow knows of no other flow: it mostly observes
  of_new_flow,  // a new flow, which does not know yet
  normal,       // there are other flows
  high,         // another flow seems to fill the queue: the probe comes early and is always a drain
};

class BaseRttProbe {
 public:
  explicit BaseRttProbe(uint64_t seed) : random_(seed) {}

  // The result of a probe whose effect has been seen by now; absent for every other ACK.
  std::optional<ProbeResult> on_ack(Time now, const AckEvent& ack, double cwnd_packets, Urgency urgency);

  void on_empty_queue(Time now) { empty_at_ = now; }      // seen by other means
  [[nodiscard]] double limit(double cwnd_packets) const;  // how much of the window may be used now
  [[nodiscard]] bool drains() const { return on() && before_.ours; }  // or its effect is not seen yet
  [[nodiscard]] bool limiting() const { return phase_ == Phase::draining; }
  // The least queueing in the last round trip that had no probe in it.
  [[nodiscard]] Time standing_queue(const RttStats& rtt) const { return standing_.least(rtt); }
  [[nodiscard]] Time return_jitter() const { return jitter_.spread(); }
  // No window is chosen meanwhile: before the effect of a drain has been seen, it would answer the drain
  // itself.
  [[nodiscard]] bool on() const { return phase_ != Phase::filled; }

 private:
  enum class Phase : uint8_t {
    filled,     // no probe goes on
    draining,   // the window is limited, for a round trip
    observing,  // the window is not limited, for a round trip
    settling,   // the ACKs show what became of the queue
  };

  void begin(Time now, const RttStats& rtt, double cwnd_packets, double observed_share);
  void follow(Time now, const RttStats& rtt);
  [[nodiscard]] bool is_undisturbed(Time now, const RttStats& rtt) const;
  [[nodiscard]] ProbeResult drained(const RttStats& rtt) const;

  struct FirstAck {
    Time at{};
    Time rtt{};
  };

  FirstAck first_{};
  Phase phase_{Phase::filled};
  Time ends_at_{};                  // of the phase; not used while `filled`
  std::optional<Time> empty_at_{};  // when the queue was last empty, or the last probe ended
  double drained_cwnd_packets_{0};
  ProbeResult before_{};  // the state before the probe
  Time least_rtt_{};      // since the probe began
  ReturnJitter jitter_{};
  StandingQueue standing_{};
  Time standing_least_{};  // the standing queue before the probe
  Random random_;
};

}  // namespace ccgym
