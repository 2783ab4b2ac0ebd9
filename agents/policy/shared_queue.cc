#include "agents/policy/shared_queue.hh"

#include <algorithm>
#include <cmath>

namespace ccgym {

namespace {

constexpr double kOwnPackets = 1.2;  // at 1 packet per ms; as the root of the rate

// Times as many at most. With twice as many, two flows of which one has twice the other's round trip have a
// Jain index of 0.96 on 96 links in place of 0.97.
constexpr double kMostOwn = 3;

// The network wants far more if the bound is less than this part of it.
constexpr double kLeastPart = 0.85;

// Of the link. With more of it, and its own packets in the queue, no wish goes before the bound, or one rival
// that counts its packets loses by it: without this Copa kept 80 % of what it has beside another Copa on 53 %
// of 96 links, so on 91 %.
constexpr double kEnoughShare = 0.4;

}  // namespace

double own_packets(const RttStats& rtt, double cwnd_packets) {
  return kOwnPackets * std::sqrt(cwnd_packets / in_ms(rtt.smoothed));
}

void SharedQueue::on_ack(const AckEvent& ack) {
  if (ack.rate.interval == Time::zero()) return;
  const Time interval = std::max(ack.rate.interval, ack.rtt.min);
  delivered_packets_per_ms_ = static_cast<double>(ack.rate.delivered_bytes) /
                              static_cast<double>(ack.newest().bytes) / in_ms(interval);
}

double SharedQueue::window(const RttStats& rtt, double cwnd_packets, double wanted_packets,
                           const LinkShare& link_share, Time return_jitter) const {
  if (link_share.irregular()) return wanted_packets;
  const double least_packets = own_packets(rtt, cwnd_packets);
  const double asked_packets = wanted_packets + least_packets;
  // A window that does not last while the host stalls leaves the link idle, and that is then taken for a
  // rival's share: a lone flow on 100 Mbit/s had 88 % of the ideal window's throughput in place of 93.
  const double most_packets =
      delivered_packets_per_ms_ * in_ms(rtt.min + return_jitter) + kMostOwn * least_packets;
  const double share = link_share.share().value_or(0);
  const double queued_packets = cwnd_packets * (1 - in_ms(rtt.min) / in_ms(rtt.smoothed));
  const bool has_enough = share > kEnoughShare && share < kAloneShare && queued_packets > least_packets;
  const bool has_seen_room = most_packets < kLeastPart * asked_packets;
  return has_seen_room && !has_enough ? asked_packets : std::min(asked_packets, most_packets);
}

}  // namespace ccgym
