#include "agents/companion/companion.hh"

#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

namespace ccgym {

namespace {

constexpr int kFewProbes = 8;  // a flow of fewer drains does not know yet whether it is alone

// A longer queue that stands is not of a lone flow's making. Who takes itself for alone observes nine of ten
// times, and gave way to a rival meanwhile: a flow to which a Cubic came after 20 s had less than a quarter
// of the link on 16 % of 200 links, beside NewReno on 22, so on 0 and 3. With 10 ms two flows, one with twice
// the other's round trip, have a Jain index of 0.966 on 60 links in place of 0.969. Were an unsteady queue
// drained as well, a flow alone had 1.4 % less of three recorded cellular links, and 0.0016 (0.0007 to
// 0.0025) less log power on 1,200 random ones.
constexpr Time kLonelyQueue = std::chrono::milliseconds{20};

// A train stops a flow of a few packets for a moment, so it asks only where the evidence is enough. It must
// be able to: the network gives way to a queue until two packets are left. A presumption is no evidence:
// asked of two packets, it costs 0.02 of log power on unseen links, slow ones above all.
constexpr double kWindowToMeasure = 8;
constexpr double kWindowToAsk = 2;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace

bool Companion::on_ack(Time now, const AckEvent& ack, double cwnd_packets) {
  shared_queue_.on_ack(ack);
  others_.on_ack(now, ack.rtt, cwnd_packets);
  const bool was_draining = drains();
  competitive_.on_ack(now, ack.rtt);
  // A train empties the queue for a moment, and a probe would take that for what others do.
  const bool train_changes = measure_share(now, ack, cwnd_packets, !probes());
  if (competitive_.on()) {  // a drain with every probe would give the rival its room
    if (finds_own_kind(now, ack.rtt, cwnd_packets)) on_own_kind(now);
    return train_changes || drains() != was_draining || !competitive_.on();
  }
  probe_.drains() ? steadiness_.on_own_drain() : steadiness_.on_ack(now, ack.rtt, cwnd_packets);
  drain_watch_ = {};  // what was before the next contest says nothing of it
  rendezvous_.reset();
  if (const auto result = probe_.on_ack(now, ack, cwnd_packets, urgency(ack.rtt))) on_probe_result(*result);
  return train_changes || drains() != was_draining;
}

// Whether a train begins, goes or is broken off.
bool Companion::measure_share(Time now, const AckEvent& ack, double cwnd_packets, bool may_hold) {
  const bool measured = std::exchange(measures_share_, suspects_others());
  if (!measures_share_) {
    if (measured) link_share_ = {};
    return measured;
  }
  const double least_packets = competitive_.asks_for_share() ? kWindowToAsk : kWindowToMeasure;
  const bool train_changes =
      link_share_.on_ack(now, ack, cwnd_packets, may_hold && cwnd_packets >= least_packets);
  if (!sees_others() && link_share_.shows_others()) others_.see();
  if (link_share_.share() > kAloneShare) others_.forget();
  return train_changes;
}

bool Companion::suspects_others() const {
  return sees_others() || competitive_.suspects() || link_share_.hints_at_others();
}

Urgency Companion::urgency(const RttStats& rtt) const {
  if (competitive_.wants_probe()) return Urgency::high;
  if (sees_others()) return Urgency::normal;
  if (probes_ < kFewProbes) return Urgency::of_new_flow;
  const bool somebody_came = probe_.standing_queue(rtt) > kLonelyQueue && !steadiness_.is_unsteady();
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

// Those that drain are no rivals, and from the queue that they leave empty all count their round trips.
void Companion::on_own_kind(Time now) {
  probe_.on_empty_queue(now);
  competitive_.leave();
  others_.see();
}

double Companion::window(Time now, const RttStats& rtt, double cwnd_packets, double wanted_packets) {
  const Time step = now - std::exchange(decided_at_, now);
  if (rtt.smoothed == Time::zero()) return cwnd_packets;  // no ACK yet: the network knows nothing to go by
  if (probes()) return cwnd_packets;                      // what it has seen was the drain itself
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
