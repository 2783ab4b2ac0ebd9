#include "agents/companion/companion.hh"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

namespace ccgym {

namespace {

constexpr int kFewProbes = 8;  // before so many a flow does not know whether it is alone

// A lone flow keeps no standing queue longer than this, so another flow has come. A flow that takes itself
// for alone only observes in nine of ten probes, and gave way to a rival before it noticed: a flow that a
// Cubic joined after 20 s had less than a quarter of the link on 16 % of 200 links, and on 22 % when NewReno
// joined; with this rule on 0 and 3 %. With 10 ms, two flows, one with twice the other's round trip, have a
// Jain's index of 0.966 on 60 links, with 20 ms 0.969. Unsteady queues are excepted: if they were drained as
// well, a flow alone would use 1.4 % less of three recorded cellular links and have 0.0016 (0.0007 to 0.0025)
// less log power on 1,200 random ones.
constexpr Time kLonelyQueue = std::chrono::milliseconds{20};

// At a high preference a lone flow's own queue is that long. Above kPatientPreference the limit doubles as
// often as the oracle's queue (oracle/preference.py), so that it stays longer. Without this rule a flow
// drained its own queue every five round trips: on 15 % of 120 random links it had less throughput at
// preference 1 than at 0.9, with it on 5 %.
constexpr double kPatientPreference = 0.7;
constexpr double kDoublings = 6;  // from preference 0 to 1

// A packet train stops a flow with a small window for a moment. So a flow needs a window of 8 packets to
// measure its share; 2 suffice when there is enough evidence of a rival, because the network gives way to a
// queue until two packets are left. A presumed rival (presumed_rival.hh) is no evidence: trains with two
// packets for it cost 0.02 of log power on unseen links, above all on slow ones.
constexpr double kWindowToMeasure = 8;
constexpr double kWindowToAsk = 2;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

Time lonely_queue(double preference) {
  const double longer = std::max(1.0, std::exp2(kDoublings * (preference - kPatientPreference)));
  return std::chrono::duration_cast<Time>(longer * kLonelyQueue);
}

}  // namespace

Companion::Companion(const ControllerConfig& config, double preference)
    : lonely_queue_(lonely_queue(preference)), probe_(config.seed), rendezvous_(config.started_at) {}

bool Companion::on_ack(Time now, const AckEvent& ack, double cwnd_packets) {
  shared_queue_.on_ack(ack);
  others_.on_ack(now, ack.rtt, cwnd_packets);
  const bool was_draining = drains();
  const bool undisturbed =
      !probe_.on() && !competitive_.on() && !measures_share_ && !steadiness_.is_unsteady();
  peaks_.on_ack(now, ack.rtt, cwnd_packets, probe_.return_jitter(), undisturbed);
  competitive_.on_ack(now, ack.rtt);
  // A train empties the queue for a moment; a probe would take that for a drain by others.
  const bool train_changes = measure_share(now, ack, cwnd_packets, !probes());
  if (competitive_.on()) {  // no probes: every drain would leave its room to the rival
    if (finds_own_kind(now, ack.rtt, cwnd_packets)) on_own_kind(now);
    return train_changes || drains() != was_draining || !competitive_.on();
  }
  probe_.drains() ? steadiness_.on_own_drain() : steadiness_.on_ack(now, ack.rtt, cwnd_packets);
  drain_watch_ = {};  // what it saw before competitive mode does not count
  rendezvous_.reset();
  if (const auto result = probe_.on_ack(now, ack, cwnd_packets, urgency(ack.rtt))) on_probe_result(*result);
  return train_changes || drains() != was_draining;
}

// Returns whether a train begins, leaves or is given up.
bool Companion::measure_share(Time now, const AckEvent& ack, double cwnd_packets, bool may_hold) {
  const bool measured = std::exchange(measures_share_, suspects_others());
  if (!measures_share_) {
    if (measured) link_share_ = {};
    return measured;
  }
  const double least_packets = competitive_.asks_for_share() ? kWindowToAsk : kWindowToMeasure;
  const bool train_changes =
      link_share_.on_ack(now, ack, cwnd_packets, may_hold && cwnd_packets >= least_packets);
  if (!sees_others() && shares_link()) others_.see();
  if (link_share_.share() > kAloneShare) others_.forget();
  peaks_.on_trains(link_share_.trains());
  return train_changes;
}

bool Companion::shares_link() const {
  return link_share_.shows_others() || (peaks_.asks_for_share() && link_share_.shows_small_others());
}

bool Companion::suspects_others() const {
  return peaks_.asks_for_share() || sees_others() || others_.in_doubt() || competitive_.suspects() ||
         link_share_.hints_at_others();
}

Urgency Companion::urgency(const RttStats& rtt) const {
  if (competitive_.wants_probe()) return Urgency::high;
  if (sees_others()) return Urgency::normal;
  if (probes_ < kFewProbes) return Urgency::of_new_flow;
  const bool somebody_came = probe_.standing_queue(rtt) > lonely_queue_ && !steadiness_.is_unsteady();
  return somebody_came ? Urgency::high : Urgency::low;
}

void Companion::on_probe_result(const ProbeResult& result) {
  ++probes_;
  const bool unsteady = steadiness_.is_unsteady();
  result.ours ? competitive_.on_probe_result(result, link_share_, unsteady)
              : competitive_.on_observed(result, link_share_, unsteady);
  others_.on_probe_result(result, unsteady);
}

bool Companion::finds_own_kind(Time now, const RttStats& rtt, double cwnd_packets) {
  if (rendezvous_.on()) drain_watch_.on_own_cut();
  const bool drained = drain_watch_.on_ack(now, rtt);
  return rendezvous_.on_ack(now, rtt, cwnd_packets, link_share_.link_packets_per_ms()) || drained;
}

// Flows that drain are no rivals. All of them count their round trips from the empty queue.
void Companion::on_own_kind(Time now) {
  probe_.on_empty_queue(now);
  competitive_.leave();
  others_.see();
}

double Companion::window(Time now, const RttStats& rtt, double cwnd_packets, double wanted_packets) {
  const Time step = now - std::exchange(decided_at_, now);
  if (rtt.smoothed == Time::zero()) return cwnd_packets;  // no ACK yet: the network has not measured anything
  if (probes()) return cwnd_packets;                      // the network has seen the effect of the drain
  if (others_.seen() && !competitive_.on())
    wanted_packets =
        shared_queue_.window(step, rtt, cwnd_packets, wanted_packets, link_share_, probe_.return_jitter());
  return competitive_.window(now, rtt, wanted_packets, link_share_);
}

std::vector<Metric> Companion::metrics() const {
  return {{"probing", "", probes() ? 1.0 : 0.0},
          {"sees_others", "", sees_others() ? 1.0 : 0.0},
          {"competitive", "", competitive_.on() ? 1.0 : 0.0},
          {"link_share", "", link_share_.share().value_or(kUnknown)}};
}

}  // namespace ccgym
