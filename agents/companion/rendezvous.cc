#include "agents/companion/rendezvous.hh"

#include <algorithm>
#include <utility>

namespace ccgym {

namespace {

// Flows must come to the same times although their round trips differ: all times are powers of two of a
// nanosecond, so that whoever meets more seldom meets those who meet more often.
constexpr Time kLeastSlot{int64_t{1} << 33};   // 8.6 s
constexpr Time kLeastDrain{int64_t{1} << 24};  // 17 ms

constexpr int kRoundTripsApart = 12;  // at least: a drain takes two

// All that is on its way in a full queue has left it after one round trip; what is sent then tells. With 1.5
// of them, flows of our kind have a Jain index of 0.94 in the mean of 40 links in place of 0.96.
constexpr int kRoundTrips = 2;
constexpr double kDrainedPackets = 2;

// Rivals do not become our kind: with each time in vain the next one is twice as far. Without that a flow has
// 0.37 of the link beside a Cubic in the mean of 120 links in place of 0.40.
constexpr int kMostDoublings = 2;

constexpr int kEmptyPart = 8;  // empty: no more than this part of the queue is left, or a tick of a clock
constexpr Time kTick = std::chrono::milliseconds{1};

// A path that turns out to be shorter by more than this part of the queue was not known: what is left of the
// queue is not either. Unless no more is left of the round trip than this part of what others had in it:
// Cubic's cut leaves 0.7. While such flows waited for the next time, those that knew the path had left and
// starved: on 100 links 2 to 16 flows have a Jain's index of 0.983 in place of 0.980, on 60 with queues of
// 250 ms and more their queue is 57 times one flow's in place of 87.
constexpr int kKnownPart = 20;
constexpr double kLeftByOwnKind = 0.3;

// Whose window is most of the queue explains by itself that it is empty without it. A flow that takes it for
// a sign has 0.38 of the link beside BBR in the mean of 60 links in place of 0.43.
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

// Flows that come a little late, with the next ACK, end together with the others.
void Rendezvous::begin(Time now, const RttStats& rtt, double cwnd_packets) {
  phase_ = Phase::draining;
  ends_at_ = begun(now, slot(rtt.smoothed)) + power_of_two(kLeastDrain, kRoundTrips * rtt.smoothed);
  before_ = rtt;
  cwnd_packets_ = cwnd_packets;
  least_rtt_ = rtt.smoothed;
}

bool Rendezvous::end(const RttStats& rtt, double link_packets_per_ms) {
  const bool of_our_kind = are_of_our_kind(rtt, link_packets_per_ms);
  phase_ = Phase::waiting;
  if (!of_our_kind) doublings_ = std::min(doublings_ + 1, kMostDoublings);
  return of_our_kind;
}

bool Rendezvous::are_of_our_kind(const RttStats& rtt, double link_packets_per_ms) const {
  const Time queueing = before_.smoothed - rtt.min;
  if (link_packets_per_ms == 0) return false;
  const double own_ms = cwnd_packets_ / link_packets_per_ms;  // of the queue at most
  const bool known = before_.min - rtt.min < std::max(kTick, queueing / kKnownPart);
  const bool empty = least_rtt_ - rtt.min <= std::max(kTick, queueing / kEmptyPart);
  const bool explained = own_ms > kExplainingPart * in_ms(queueing);
  return empty && !explained && (known || have_drained(own_ms));
}

bool Rendezvous::have_drained(double own_ms) const {
  return in_ms(least_rtt_) < kLeftByOwnKind * (in_ms(before_.smoothed) - own_ms);
}

Time Rendezvous::slot(Time smoothed_rtt) const {
  return power_of_two(kLeastSlot, kRoundTripsApart * smoothed_rtt) * (1 << doublings_);
}

// The slot that goes on, by the flow's own time.
Time Rendezvous::begun(Time now, Time slot) const {
  const Time wall_clock = now + started_at_;
  return wall_clock - wall_clock % slot - started_at_;
}

double Rendezvous::limit(double cwnd_packets) const {
  return drains() ? std::min(cwnd_packets, kDrainedPackets) : cwnd_packets;
}

}  // namespace ccgym
