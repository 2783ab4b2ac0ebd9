#include "agents/companion/shared_queue.hh"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace ccgym {

namespace {

constexpr double kOwnPackets = 1.2;  // at 1 packet per ms; grows as the square root of the rate

// The bound is at most this many times own_packets, by the flow's share of the link. With five times for all
// shares, 2 to 16 flows have a Jain's index of 0.951 in their first half minute on 200 links instead of
// 0.958. A flow that has its part of the link keeps more, and fills what a slow rival leaves: with three
// times, one Copa and the flow use 94.8 % of 200 links instead of 95.2 %. A flow with more than half of the
// link keeps fewer, so that the others come to their part: without that Copa keeps 80 % of what it has beside
// another Copa on 80 % of 160 links instead of 93 %.
constexpr double kMaxOwn = 3;
constexpr double kMaxOwnOfPart = 5;
constexpr double kMaxOwnOfLargest = 1.3;
constexpr double kSmallShare = 0.3;
constexpr double kLargestShare = 0.5;

bool has_part(double share) { return share > kSmallShare && share < kAloneShare; }

double most_own(double share) {
  if (!has_part(share)) return kMaxOwn;
  return share > kLargestShare ? kMaxOwnOfLargest : kMaxOwnOfPart;
}

// The network wants far more than the bound if the bound is less than this part of what it wants.
constexpr double kMinPart = 0.85;

// Of the link. A flow that has more than this, and its own packets in the queue, stays within the bound;
// otherwise one rival that counts its packets loses: without this rule Copa kept 80 % of what it has beside
// another Copa on 53 % of 96 links, with it on 91 %.
constexpr double kEnoughShare = 0.4;

// On shorter round trips a network decides only once or twice while others drain the queue, and wants more
// than there is room for. There a flow with a small share goes to kMaxBeyond times the bound at most;
// otherwise some of many flows take turns: 2 to 16 flows have a Jain's index of 0.981 on 100 links with this
// rule, 0.976 without. If it did not go beyond the bound at all, two flows, one of eight times the other's
// round trip, would lose 0.009 on 100 links.
constexpr Time kShortRoundTrip = std::chrono::milliseconds{25};
constexpr double kMaxBeyond = 1.5;

// And there a link with a clock stands idle in some ticks if the queue holds less than a tick of packets: a
// lone flow that takes itself for one of several, because a Poisson link's queue falls by itself, then
// measures a share that keeps it so. Without this room such a flow had 108 Mbit/s of 121 instead of 120, and
// mean log power on 600 random links is 0.0014 lower. On long paths the room may be Copa's loss: beside it a
// flow had 92 % of three links in tests/agents/test_competing_flows.py instead of 67 %, and 62 % of 68 drawn
// ones with round trips of 120 to 240 ms instead of 60 %.
constexpr Time kClock = std::chrono::milliseconds{1};

Time clock_room(const RttStats& rtt) { return rtt.smoothed < kShortRoundTrip ? kClock : Time{}; }

// The part of the difference that the window makes up per round trip: it rises by half of it, and falls by
// all of it within two thirds of a round trip. If it fell no faster than it rises, or within one round trip,
// a slow rival would keep less: Copa 80 % on 78 to 83 % of 120 links instead of 89 %. A flow with an unknown
// or a small share takes what it wants at once: without that two flows, one of eight times the other's round
// trip, have a Jain's index of 0.868 on 96 links instead of 0.891.
constexpr double kRise = 0.5;
constexpr double kFall = 1.5;

double moved(double from_packets, double to_packets, double round_trips) {
  const double part = (to_packets > from_packets ? kRise : kFall) * std::min(1.0, round_trips);
  return from_packets + std::min(1.0, part) * (to_packets - from_packets);
}

}  // namespace

double own_packets(const RttStats& rtt, double cwnd_packets) {
  return kOwnPackets * std::sqrt(cwnd_packets / in_ms(rtt.smoothed));
}

double most_own_packets(const RttStats& rtt, double cwnd_packets) {
  return kMaxOwnOfPart * own_packets(rtt, cwnd_packets);
}

void SharedQueue::on_ack(const AckEvent& ack) {
  if (ack.rate.interval == Time::zero()) return;
  const Time interval = std::max(ack.rate.interval, ack.rtt.min);
  delivered_packets_per_ms_ = static_cast<double>(ack.rate.delivered_bytes) /
                              static_cast<double>(ack.newest().bytes) / in_ms(interval);
}

double SharedQueue::window(Time step, const RttStats& rtt, double cwnd_packets, double wanted_packets,
                           const LinkShare& link_share, Time return_jitter) const {
  if (link_share.irregular()) return wanted_packets;
  const double share = link_share.share().value_or(0);
  const double to_packets =
      target(rtt, cwnd_packets, wanted_packets + own_packets(rtt, cwnd_packets), share, return_jitter);
  return has_part(share) ? moved(cwnd_packets, to_packets, in_ms(step) / in_ms(rtt.smoothed)) : to_packets;
}

double SharedQueue::target(const RttStats& rtt, double cwnd_packets, double asked_packets, double share,
                           Time return_jitter) const {
  const double least_packets = own_packets(rtt, cwnd_packets);
  // Room for the return jitter: a window that is used up while the host stalls leaves the link idle, and that
  // is then taken for a rival's share. Without it a lone flow on 100 Mbit/s had 88 % of the ideal window's
  // throughput instead of 93 %.
  const double most_packets = delivered_packets_per_ms_ * in_ms(rtt.min + clock_room(rtt) + return_jitter) +
                              most_own(share) * least_packets;
  const double queued_packets = cwnd_packets * (1 - in_ms(rtt.min) / in_ms(rtt.smoothed));
  const bool has_enough = share > kEnoughShare && share < kAloneShare && queued_packets > least_packets;
  const bool has_seen_room = most_packets < kMinPart * asked_packets;
  if (share > 0 && share < kSmallShare && rtt.smoothed < kShortRoundTrip)
    asked_packets = std::min(asked_packets, kMaxBeyond * most_packets);
  return has_seen_room && !has_enough ? asked_packets : std::min(asked_packets, most_packets);
}

}  // namespace ccgym
