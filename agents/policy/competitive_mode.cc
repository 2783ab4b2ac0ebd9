#include "agents/policy/competitive_mode.hh"

#include <algorithm>
#include <chrono>

namespace ccgym {

namespace {

constexpr double kStayed = 0.5;  // a probe has failed if more than this share of the queue is left

// A shorter queue is a link's clock, or a few packets of each of many flows of our kind.
constexpr Time kQueue = std::chrono::milliseconds{2};
constexpr Time kLongQueue = std::chrono::milliseconds{30};       // counts double
constexpr Time kVeryLongQueue = std::chrono::milliseconds{100};  // counts double again

// Every probe that fails is evidence, every other one is as much against it: flows of our kind that join
// within seconds fail for a while, beside a Cubic three probes of four fail for ever. With a reset in place
// of a count, ten flows that join and leave had a Jain index of 0.90 in the mean of 54 runs; so they have
// 0.94.
constexpr int kEnoughEvidence = 10;
constexpr int kMostEvidence = 2 * kEnoughEvidence;
constexpr int kEarlyProbeEvidence = 4;  // from here on the next probe does not wait

// Who has less than this share of the link counts double: flows of our kind soon have more. Where round trips
// take half a second and more, evidence comes slowly: beside a Cubic on 8 Mbit/s, 140 ms and 6 BDP a flow had
// 17 % in the mean of 24 runs, in 15 of them less than 7; with this and the very long queues it has 42.
constexpr double kStarvedShare = 0.1;

constexpr double kAlone = 0.9;      // with more of the link there is nobody else
constexpr double kEvenShare = 0.5;  // with one rival
constexpr double kMostShare = 0.55;
constexpr double kFirstPart = 0.25;  // of an even share; from two packets it takes 15 long round trips
constexpr Time kStandingQueue = std::chrono::milliseconds{5};  // a shorter one leaves room

// A train stops a flow of a few packets for a moment, so it asks only where the evidence is enough. It must
// be able to: the network gives way to a queue until two packets are left.
constexpr double kWindowToMeasure = 8;
constexpr double kWindowToAsk = 2;

}  // namespace

void CompetitiveMode::on_probe_result(const ProbeResult& result) {
  if (result.left <= kStayed || result.queueing <= kQueue) return on_probe_success();
  wants_probe_ = result.queueing > kLongQueue || evidence_ >= kEarlyProbeEvidence;
  evidence_ = std::min(evidence_ + evidence_of_failure(result), kMostEvidence);
}

int CompetitiveMode::evidence_of_failure(const ProbeResult& result) const {
  if (is_huge(result.queueing, result.smoothed_rtt - result.queueing)) return kEnoughEvidence;
  const bool starves = link_share_.share().value_or(1) < kStarvedShare;
  return (result.queueing > kVeryLongQueue ? 4 : result.queueing > kLongQueue ? 2 : 1) * (starves ? 2 : 1);
}

void CompetitiveMode::on_probe_success() {
  if (evidence_ <= 1) return leave();
  wants_probe_ = false;
  --evidence_;
}

double CompetitiveMode::on_loss(Time now, std::span<const LostPacket> lost, double cwnd_packets) {
  return on_ ? std::min(cwnd_packets, window_.reduce(now, lost, even_packets_)) : cwnd_packets;
}

bool CompetitiveMode::on_ack(Time now, const AckEvent& ack, double cwnd_packets, bool may_hold) {
  const double least_packets = evidence_ < kEnoughEvidence ? kWindowToMeasure : kWindowToAsk;
  const bool may_measure = may_hold && cwnd_packets >= least_packets;
  return evidence_ > 0 && link_share_.on_ack(now, ack, cwnd_packets, may_measure);
}

double CompetitiveMode::window(Time now, const RttStats& rtt, double wanted_packets) {
  if (evidence_ >= kEnoughEvidence) decide(now, rtt, wanted_packets);
  if (!on_) return wanted_packets;
  even_packets_ = even_packets(rtt);
  const double most_packets = kMostShare / kEvenShare * even_packets_;
  const double cubic_packets = window_.grow(now, rtt, most_packets);
  // Nobody needs what an empty queue leaves unused; and only so does a flow notice that its rivals have gone.
  const bool queue_stands = rtt.smoothed - rtt.min > kStandingQueue;
  return queue_stands ? cubic_packets : std::max(cubic_packets, wanted_packets);
}

// A path that has become longer looks like a queue that never empties; but the link is then ours alone.
void CompetitiveMode::decide(Time now, const RttStats& rtt, double wanted_packets) {
  const std::optional<double> share = link_share_.share();
  if (!share) return;
  if (*share > kAlone) return leave();
  if (on_) return;
  on_ = true;
  const double even = even_packets(rtt);
  window_ = {now, std::max(wanted_packets, kFirstPart * even), even};
}

void CompetitiveMode::leave() {
  on_ = wants_probe_ = false;
  evidence_ = 0;
  link_share_ = {};
}

double CompetitiveMode::even_packets(const RttStats& rtt) const {
  return kEvenShare * link_share_.link_packets_per_ms() * in_ms(rtt.smoothed);
}

}  // namespace ccgym
