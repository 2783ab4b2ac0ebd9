#include "agents/companion/rendezvous.hh"

#include <algorithm>
#include <utility>

namespace ccgym {

namespace {

// Flows must meet at the same moments although their round trips differ. So all times are powers of two of a
// nanosecond: the moments of a flow that meets more seldom are also moments of those that meet more often.
constexpr Time kMinSlot{int64_t{1} << 33};   // 8.6 s
constexpr Time kMinDrain{int64_t{1} << 24};  // 17 ms

constexpr int kRoundTripsApart = 12;  // at least between two rendezvous; the drain takes two

// After one round trip everything that was in a full queue has left it; the packets sent after that show
// whether it is empty. With 1.5 round trips, flows of our kind have a Jain's index of 0.94 in the mean of 40
// links instead of 0.96.
constexpr int kRoundTrips = 2;
constexpr double kDrainedPackets = 2;

// Rivals do not become our kind: after each rendezvous in vain the time to the next one doubles. Without that
// a flow has 0.37 of the link beside a Cubic in the mean of 120 links instead of 0.40.
constexpr int kMaxDoublings = 2;

// But if the queue fell by more than this many times the flow's own packets, others of our kind have drained
// as well, only not all of them: some did not compete yet, or meet more seldom. If that doubled the time too,
// the queue of 2 to 16 flows would be 16.2 times one flow's instead of 13.3 times, in the mean of 100 links.
constexpr double kMoreThanOwn = 1.5;

constexpr int kEmptyPart = 8;  // empty: no more than 1/8 of the queue is left, or a tick of the link's clock
constexpr Time kTick = std::chrono::milliseconds{1};

// If the min RTT turns out to be shorter by more than 1/20 of the queue, the path was not known, and so
// neither was the queue nor what is left of it. Others have drained nevertheless if no more than
// kLeftByOwnKind of the round trip without this flow's own packets is left: a Cubic's reduction leaves 0.7.
// Without this exception such flows waited for the next rendezvous, while those that knew the path had left
// competitive mode and starved: on 100 links 2 to 16 flows have a Jain's index of 0.983 with it, 0.980
// without; on 60 links with queues of 250 ms and more their queue is 57 times one flow's with it, 87 times
// without.
constexpr int kKnownPart = 20;
constexpr double kLeftByOwnKind = 0.3;

// A flow whose window was more than this part of the queue explains by itself why the queue is empty. If it
// took that for a sign of its own kind, it would have 0.38 of the link beside BBR in the mean of 60 links
// instead of 0.43.
constexpr double kExplainingPart = 0.67;

Time power_of_two(Time least, Time enough) {
  while (least < enough) least *= 2;
  return least;
}

}  // namespace

bool Rendezvous::on_ack(Time now, const RttStats& rtt, double cwnd_packets, double link_packets_per_ms) {
  const Time asked_at = std::exchange(asked_at_, now);
  if (phase_ == Phase::waiting) {
    if (is_due(asked_at, now, rtt.smoothed)) begin(now, rtt, cwnd_packets);
    return false;
  }
  least_rtt_ = std::min(least_rtt_, rtt.latest);
  if (now <= ends_at_) return false;
  if (phase_ == Phase::settling) return end(rtt, link_packets_per_ms);
  phase_ = Phase::settling;
  ends_at_ = now + rtt.min;
  return false;
}

bool Rendezvous::is_due(Time asked_at, Time now, Time smoothed_rtt) const {
  const Time apart = slot(smoothed_rtt);
  return asked_at > Time{} && begun(asked_at, apart) != begun(now, apart);
}

// A flow that begins a little late, with its next ACK, ends together with the others.
void Rendezvous::begin(Time now, const RttStats& rtt, double cwnd_packets) {
  phase_ = Phase::draining;
  ends_at_ = begun(now, slot(rtt.smoothed)) + power_of_two(kMinDrain, kRoundTrips * rtt.smoothed);
  before_ = rtt;
  cwnd_packets_ = cwnd_packets;
  least_rtt_ = rtt.smoothed;
}

bool Rendezvous::end(const RttStats& rtt, double link_packets_per_ms) {
  const bool of_our_kind = are_of_our_kind(rtt, link_packets_per_ms);
  phase_ = Phase::waiting;
  if (!of_our_kind && !some_are_of_our_kind(link_packets_per_ms))
    doublings_ = std::min(doublings_ + 1, kMaxDoublings);
  return of_our_kind;
}

bool Rendezvous::some_are_of_our_kind(double link_packets_per_ms) const {
  const double gone_packets = link_packets_per_ms * in_ms(before_.smoothed - least_rtt_ - kTick);
  return gone_packets > kMoreThanOwn * cwnd_packets_;
}

bool Rendezvous::are_of_our_kind(const RttStats& rtt, double link_packets_per_ms) const {
  const Time queueing = before_.smoothed - rtt.min;
  if (link_packets_per_ms == 0) return false;
  const double own_ms = cwnd_packets_ / link_packets_per_ms;  // queueing by its own packets, at most
  const bool known = before_.min - rtt.min < std::max(kTick, queueing / kKnownPart);
  const bool empty = least_rtt_ - rtt.min <= std::max(kTick, queueing / kEmptyPart);
  const bool explained = own_ms > kExplainingPart * in_ms(queueing);
  return empty && !explained && (known || have_drained(own_ms));
}

bool Rendezvous::have_drained(double own_ms) const {
  return in_ms(least_rtt_) < kLeftByOwnKind * (in_ms(before_.smoothed) - own_ms);
}

Time Rendezvous::slot(Time smoothed_rtt) const {
  return power_of_two(kMinSlot, kRoundTripsApart * smoothed_rtt) * (1 << doublings_);
}

// When the present slot began, by the flow's own time.
Time Rendezvous::begun(Time now, Time slot) const {
  const Time wall_clock = now + started_at_;
  return wall_clock - wall_clock % slot - started_at_;
}

double Rendezvous::limit(double cwnd_packets) const {
  return drains() ? std::min(cwnd_packets, kDrainedPackets) : cwnd_packets;
}

}  // namespace ccgym
