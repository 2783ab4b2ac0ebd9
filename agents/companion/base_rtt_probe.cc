#include "agents/companion/base_rtt_probe.hh"

#include <algorithm>
#include <chrono>

namespace ccgym {

namespace {

constexpr int kEmptyPart = 16;  // the queue is empty if no more than 1/16 of the standing queue is left
constexpr double kDrainedShare = 0.85;  // of what the path holds; the rest allows for flows that drain late
constexpr double kNoticeable = 0.9;     // a window that can fall by less than a tenth counts as drained
constexpr double kMinPackets = 2;

struct Schedule {
  int round_trips;        // without an empty queue before a probe
  double observed_share;  // share of the probes in which the flow only observes
};

// Copa expects an empty queue every five round trips; flows of our kind drain together and get twice that
// time. A new flow observes in 0.3 of its probes, flows that know of each other in 0.15. With 0.15 for new
// flows too, two flows, one with 8 times the other's round trip, lose 0.02 of Jain's index; with 0.5, ten
// flows that join lose 0.01.
Schedule schedule(Urgency urgency) {
  switch (urgency) {
    case Urgency::low:
      return {15, 0.9};
    case Urgency::of_new_flow:
      return {10, 0.3};
    case Urgency::normal:
      return {10, 0.15};
    case Urgency::high:
      return {5, 0};
  }
  return {};
}

// The clock of a link changes the queue by up to this much, or by one packet, although no flow has drained
// it.
constexpr Time kNoise = std::chrono::milliseconds{1};

// A flow that began on an empty path does not probe before. On short paths it would drain every 80 ms, and
// that costs a short flow more time than other flows lose while they wait for its first drain: 1,500 kB alone
// on the link take no longer than Cubic's on 86 % of 300 links, without this rule on 76 %. Flows that began
// at a queue probe at once: if they waited as well, ten flows that join would lose 0.04 of Jain's index.
constexpr Time kUndisturbed = std::chrono::seconds{1};

double ratio(Time a, Time b) { return static_cast<double>(a.count()) / static_cast<double>(b.count()); }

}  // namespace

std::optional<ProbeResult> BaseRttProbe::on_ack(Time now, const AckEvent& ack, double cwnd_packets,
                                                Urgency urgency) {
  const RttStats& rtt = ack.rtt;
  jitter_.on_ack(now, ack);
  const bool empty = rtt.latest - rtt.min <= (rtt.smoothed - rtt.min) / kEmptyPart;
  if (!empty_at_) first_ = {.at = now, .rtt = rtt.latest};
  if (empty || !empty_at_) empty_at_ = now;
  if (phase_ == Phase::filled) {
    standing_.on_ack(now, rtt);
    const auto [round_trips, observed_share] = schedule(urgency);
    const bool waits = urgency == Urgency::of_new_flow && is_undisturbed(now, rtt);
    if (!waits && now - *empty_at_ > round_trips * rtt.smoothed)
      begin(now, rtt, cwnd_packets, observed_share);
    return std::nullopt;
  }
  follow(now, rtt);
  if (phase_ != Phase::filled) return std::nullopt;
  return drained(rtt);
}

// The first packet met no queue: no later round trip was noticeably shorter.
bool BaseRttProbe::is_undisturbed(Time now, const RttStats& rtt) const {
  return now < first_.at + kUndisturbed && first_.rtt - rtt.min < kNoise;
}

ProbeResult BaseRttProbe::drained(const RttStats& rtt) const {
  ProbeResult drained = before_;
  const Time before = before_.ours ? before_.smoothed_rtt - rtt.min : standing_least_;
  const Time left = least_rtt_ - rtt.min;
  drained.left = ratio(left, std::max(before, Time{1}));
  // A fall within the spread of the ACKs' return times may come from a pause of this host. Without this rule
  // a lone flow on a host that stalls for up to 4 ms believed in others, and reached 97 % of the ideal
  // window's throughput on 11 of 24 links; with it, on 19.
  const bool own_pause = left < before && before - left <= jitter_.spread();
  if (own_pause && !drained.ours) drained.detected = false;
  return drained;
}

double BaseRttProbe::limit(double cwnd_packets) const {
  return limiting() ? std::min(cwnd_packets, drained_cwnd_packets_) : cwnd_packets;
}

void BaseRttProbe::begin(Time now, const RttStats& rtt, double cwnd_packets, double observed_share) {
  drained_cwnd_packets_ = std::max(kMinPackets, kDrainedShare * cwnd_packets * ratio(rtt.min, rtt.smoothed));
  const bool is_least = cwnd_packets <= kMinPackets / kNoticeable;  // this is a drain already
  const bool drains = is_least || !random_.chance(observed_share);
  phase_ = drains ? Phase::draining : Phase::observing;
  before_ = {.cwnd_packets = cwnd_packets,
             .smoothed_rtt = rtt.smoothed,
             .queueing = rtt.smoothed - rtt.min,
             .ours = drains};
  standing_least_ = standing_.least(rtt);
  const auto packet_time = static_cast<int64_t>(static_cast<double>(rtt.smoothed.count()) / cwnd_packets);
  before_.detected = drains || standing_least_ >= std::max(kNoise, Time{packet_time});
  least_rtt_ = rtt.smoothed;
  ends_at_ = now + rtt.smoothed;
}

void BaseRttProbe::follow(Time now, const RttStats& rtt) {
  least_rtt_ = std::min(least_rtt_, rtt.latest);
  if (now <= ends_at_) return;
  if (phase_ != Phase::settling) empty_at_ = now;
  phase_ = phase_ == Phase::settling ? Phase::filled : Phase::settling;
  ends_at_ = now + rtt.min;
}

}  // namespace ccgym
