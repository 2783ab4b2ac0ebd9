// Lets the queue of a bottleneck run empty now and then, so that every flow on it learns how long the path
// is.
//
// A flow that comes to a standing queue takes the queue for a part of the path and claims more than its
// share, as Vegas does. Here, whoever has not seen the queue empty for some round trips keeps its window for
// one round trip below what the path alone would hold. An empty queue is seen by all flows at once and starts
// all their clocks, so that they drain together from then on (as BBR's ProbeRTT, but within some round trips,
// not in 10 s).
//
// Some of its drains, at random, a flow leaves out and only observes the queue: if it falls nevertheless,
// somebody else has drained it. A flow that knows of nobody else mostly observes, for a drain costs
// throughput.
#pragma once

#include <cstdint>
#include <optional>

#include "agents/companion/return_jitter.hh"
#include "agents/companion/standing_queue.hh"
#include "transport/congestion_controller.hh"
#include "transport/random.hh"

namespace ccgym {

// What a drain has shown, or a time of observing.
struct ProbeResult {
  double cwnd_packets{0};  // before it
  Time smoothed_rtt{};     // before it
  Time queueing{};         // before it: how much longer that is than the path
  double left{0};          // of the queue, as a share: little if it was ours, or the others drained as well
  bool detected{true};     // the queue was long enough for its fall to be seen; a drain of ours always is
  bool ours{true};         // we drained; else we observed
};

// How much a drain is worth, which costs throughput.
enum class Urgency : uint8_t {
  low,          // of a flow that knows of nobody else: it mostly observes
  of_new_flow,  // which does not know yet
  normal,       // beside others
  high,         // where somebody seems to fill the queue: at once, and always a drain
};

class BaseRttProbe {
 public:
  explicit BaseRttProbe(uint64_t seed) : random_(seed) {}

  // Of the drain, or the observing, whose effect has been seen by now.
  std::optional<ProbeResult> on_ack(Time now, const AckEvent& ack, double cwnd_packets, Urgency urgency);

  void on_empty_queue(Time now) { empty_at_ = now; }                  // as was seen otherwise
  [[nodiscard]] double limit(double cwnd_packets) const;              // what of a window may be used now
  [[nodiscard]] bool drains() const { return on() && before_.ours; }  // or has, and its effect is to be seen
  [[nodiscard]] bool limiting() const { return phase_ == Phase::draining; }
  // In the last round trip without a probe.
  [[nodiscard]] Time standing_queue(const RttStats& rtt) const { return standing_.least(rtt); }
  [[nodiscard]] Time return_jitter() const { return jitter_.spread(); }
  // A decision before the effect of a drain has been seen would answer to the drain itself.
  [[nodiscard]] bool on() const { return phase_ != Phase::filled; }

 private:
  enum class Phase : uint8_t {
    filled,     // there is a queue, or none
    draining,   // the window is limited, for a round trip
    observing,  // it is not, as long
    settling,   // the ACKs tell what has come of it
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
  Time ends_at_{};                  // of the phase, unless the queue is filled
  std::optional<Time> empty_at_{};  // when the queue was empty last, or the last drain ended
  double drained_cwnd_packets_{0};
  ProbeResult before_{};  // what was before the drain
  Time least_rtt_{};      // since it began
  ReturnJitter jitter_{};
  StandingQueue standing_{};
  Time standing_least_{};  // before it
  Random random_;
};

}  // namespace ccgym
