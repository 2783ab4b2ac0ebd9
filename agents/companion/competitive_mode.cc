#include "agents/companion/competitive_mode.hh"

#include <algorithm>
#include <chrono>

#include "agents/companion/shared_queue.hh"

namespace ccgym {

namespace {

// A probe has failed if more than this share of the queue is left. With 0.5 a flow has 46 % of 120 links
// beside BBR 3 instead of 47 %, and competes later; with 0.4, ten flows that join have a Jain's index of
// 0.956 in the mean of 300 runs instead of 0.961.
constexpr double kStayed = 0.45;

// A shorter queue is no evidence: it may come from the link's clock, or be a few packets of each of many
// flows of our kind.
constexpr Time kQueue = std::chrono::milliseconds{2};
constexpr Time kLongQueue = std::chrono::milliseconds{30};       // counts double
constexpr Time kVeryLongQueue = std::chrono::milliseconds{100};  // counts double again

// Every probe that fails is evidence of a rival, every other probe as much against it. While flows of our
// kind join within seconds of each other, their probes fail for a while; beside a Cubic three probes of four
// fail for as long as it is there. If one success reset the count, ten flows that join and leave would have a
// Jain's index of 0.90 in the mean of 54 runs instead of 0.94.
constexpr int kEnoughEvidence = 10;
constexpr int kMaxEvidence = 2 * kEnoughEvidence;
constexpr int kEarlyProbeEvidence = 4;  // from here on the next probe does not wait

// A failure counts double while the flow has less than this share of the link: flows of our kind soon have
// more. Where round trips take half a second and more, evidence comes slowly: beside a Cubic on 8 Mbit/s, 140
// ms and 6 BDP a flow had 17 % in the mean of 24 runs, in 15 of them less than 7 %; with this rule and that
// for very long queues it has 42 %. With 0.15 a flow has 38 % of the second half minute beside a Cubic that
// comes first in each millisecond (loss_synchronization.hh), in the mean of 48 runs on six links, with 0.2 it
// has 40 %.
constexpr double kStarvedShare = 0.2;

// A flow with more than kEmptyingShare of the link also uses what it observes: if more than kUndrained of the
// queue is left in kEnoughUndrained observations in a row, no other flow drains it. Beside a Cubic that comes
// first, on 100 links with queues of 0.2 to 2 BDP, a flow competes for 82 % of its second half minute,
// without this rule for 75 %, and has 41.5 % of the link, without it 40.7 %.
constexpr double kEmptyingShare = 0.3;
constexpr double kUndrained = 0.85;
constexpr int kEnoughUndrained = 3;

// Others have drained as well if the queue fell by more than this many times the flow's own packets; then
// nobody is presumed to be a rival any more. Without this rule the flows of a large group, which step back
// one after the other, took each other for rivals by their shares for as long as they watched: on 100 links
// the queue of 2 to 16 flows was 25 times one flow's; with the rule it is 12 times. A Cubic's reduction
// during a drain must not look the same: if the fall is compared with what the flow itself kept back, not
// with its whole window, groups gain nothing that 210 links could show, and beside a Cubic that began 5 s
// before (120 links) a flow has 32 % of its seconds 10 to 25 instead of 35 %, and 42 % of the half minute
// after instead of 44 %.
constexpr double kMoreThanOwn = 1.5;

constexpr double kPresumedShare = 0.35;  // a new flow with more of the link presumes no rival
constexpr double kEvenShare = 0.5;       // with one rival
// The cap of the window, in even shares with one rival. The window loses a part of itself with each packet
// lost: with a cap of 1, a flow has 40.7 % of 180 links beside a Cubic instead of 42.3 %, and 41 % of 80
// links beside BBR instead of 44 %. With 1.2, BBR keeps 80 % of its part on 78 % of those links, with 1.1 on
// 99 %.
constexpr double kMaxPart = 1.1;
// The window to begin with, of an even share: growing there from two packets takes 15 long round trips.
constexpr double kFirstPart = 0.25;

// The evidence that a failed probe adds. Flows of our kind keep no queue that is both very long and longer
// than the path, even while some join: such a queue is enough at once.
int evidence_of_failure(const ProbeResult& result, const LinkShare& link_share) {
  const Time path = result.smoothed_rtt - result.queueing;
  if (result.queueing > std::max(kVeryLongQueue, path)) return kEnoughEvidence;
  const bool starves = link_share.share().value_or(1) < kStarvedShare;
  return (result.queueing > kVeryLongQueue ? 4 : result.queueing > kLongQueue ? 2 : 1) * (starves ? 2 : 1);
}

// Whether the flow starves behind a queue that flows of our kind do not keep. The window decides, not the
// measured share: a flow of two packets sends no trains, and its share may have been measured long ago. While
// the link's rate is unknown, the flow counts as starving.
bool starves_behind_queue(const ProbeResult& result, const LinkShare& link_share) {
  const double link_packets = link_share.link_packets_per_ms() * in_ms(result.smoothed_rtt);
  const bool has_little = link_packets == 0 || result.cwnd_packets < kStarvedShare * link_packets;
  return result.queueing > kVeryLongQueue && has_little;
}

// The queue fell by more than all packets of this flow can have been: others have drained it as well.
bool others_drained(const ProbeResult& result, const LinkShare& link_share) {
  const double gone_packets = (1 - result.left) * in_ms(result.queueing) * link_share.link_packets_per_ms();
  return gone_packets > kMoreThanOwn * result.cwnd_packets;
}

// If the flow has no more, the queue is its own. Without this rule, beside a sender of constant rate, which
// neither fills a queue nor drains it, a flow filled all of the queue on 28 % of 60 links where that rate was
// three fifths of the link's; with it on none.
bool has_more_than_its_own(const ProbeResult& result) {
  const double queued_packets = result.cwnd_packets * in_ms(result.queueing) / in_ms(result.smoothed_rtt);
  return queued_packets > most_own_packets({.smoothed = result.smoothed_rtt}, result.cwnd_packets);
}

double even_packets(const RttStats& rtt, const LinkShare& link_share) {
  return kEvenShare * link_share.link_packets_per_ms() * in_ms(rtt.smoothed);
}

}  // namespace

void CompetitiveMode::on_probe_result(const ProbeResult& result, const LinkShare& link_share, bool unsteady) {
  presumed_.on_probe_result();
  weigh(result, link_share, unsteady);
  rival_drains_.on_drain(!unsteady && starves_behind_queue(result, link_share));
  if (rival_drains_.told() && link_share.share()) evidence_ = std::max(evidence_, kEnoughEvidence);
}

void CompetitiveMode::weigh(const ProbeResult& result, const LinkShare& link_share, bool unsteady) {
  if (result.left <= kStayed || result.queueing <= kQueue) {
    if (presumed_.watches() && others_drained(result, link_share)) presumed_.end();
    return on_probe_success();
  }
  wants_probe_ = !unsteady && (result.queueing > kLongQueue || evidence_ >= kEarlyProbeEvidence);
  if (!unsteady) evidence_ = std::min(evidence_ + evidence_of_failure(result, link_share), kMaxEvidence);
}

void CompetitiveMode::on_probe_success() {
  wants_probe_ = false;
  evidence_ = std::max(0, evidence_ - 1);
  if (presumed_.on() || (evidence_ == 0 && !presumed_.watches())) leave();
}

void CompetitiveMode::on_observed(const ProbeResult& result, const LinkShare& link_share, bool unsteady) {
  if (!result.detected) return;
  const bool rivals_may_fill_it = !unsteady && link_share.shows_others() && has_more_than_its_own(result);
  const bool undrained =
      rivals_may_fill_it && link_share.share() > kEmptyingShare && result.left > kUndrained;
  undrained_ = undrained ? undrained_ + 1 : 0;
  if (undrained_ >= kEnoughUndrained) evidence_ = std::max(evidence_, kEnoughEvidence);
}

double CompetitiveMode::on_loss(Time now, std::span<const LostPacket> lost, double cwnd_packets) {
  if (!on_) return cwnd_packets;
  const double before_packets = window_.packets();
  const double others = others_packets();
  const double reduced_packets = window_.reduce(now, lost, even_packets_);
  if (reduced_packets < before_packets) synchronization_.on_reduction(now, smoothed_rtt_, others);
  return std::min(cwnd_packets, reduced_packets);
}

void CompetitiveMode::on_ack(Time now, const RttStats& rtt) {
  if (presumed_.on_ack(now, rtt)) evidence_ = kEnoughEvidence;
}

bool CompetitiveMode::asks_for_share() const {
  return (evidence_ >= kEnoughEvidence && !presumed_.on()) || rival_drains_.suspected();
}

double CompetitiveMode::window(Time now, const RttStats& rtt, double wanted_packets,
                               const LinkShare& link_share) {
  if (!on_ && !presumed_.on()) reconsider(now, link_share);
  if (evidence_ >= kEnoughEvidence) decide(now, rtt, wanted_packets, link_share);
  if (!on_) return wanted_packets;
  even_packets_ = even_packets(rtt, link_share);
  smoothed_rtt_ = rtt.smoothed;
  const bool lost_alone = synchronization_.lost_alone(now, others_packets());
  if (lost_alone && window_.prior_packets() < even_packets_) window_.undo_reduction(now);
  const double cubic_packets = window_.grow(now, rtt, kMaxPart * even_packets_);
  return spare_room_.window(now, rtt, cubic_packets, wanted_packets);
}

// What all flows have on the way, less the flow's own window.
double CompetitiveMode::others_packets() const { return even_packets_ / kEvenShare - window_.packets(); }

// A flow that has the link to itself suspects nobody. Otherwise a drain that failed by chance, on a slow link
// because of a tick of the link's clock, was remembered until the next drain, which a lone flow makes after a
// hundred round trips; and meanwhile each of its trains cost a packet of queue. Without this rule mean log
// power on 2,000 random links is 0.002 lower (95 % interval 0.001 to 0.003).
void CompetitiveMode::reconsider(Time now, const LinkShare& link_share) {
  const std::optional<double> share = link_share.share();
  if (suspects() && share > kAloneShare) return leave();
  if (!presumed_.watches()) return;
  if (presumed_.expired(now)) return leave();
  const bool tells = share && !link_share.irregular();
  if (tells && presumed_.confirmed_by(*share)) evidence_ = kEnoughEvidence;
}

// On a path that has become longer the queue never seems to empty either; but then the flow has the link to
// itself, and leaves.
void CompetitiveMode::decide(Time now, const RttStats& rtt, double wanted_packets,
                             const LinkShare& link_share) {
  if (presumed_.on() && presumed_.expired(now)) return step_back(now, rtt.smoothed, link_share);
  const bool presumes = presumed_.on() && !on_;
  const std::optional<double> share = presumes ? link_share.early_share() : link_share.share();
  if (!share) return;
  if (*share > (presumes ? kPresumedShare : kAloneShare)) return leave();
  if (on_) return;
  on_ = true;
  undrained_ = 0;
  if (rival_drains_.told()) rival_drains_.on_contest();
  const double even = even_packets(rtt, link_share);
  window_ = {now, std::max(wanted_packets, kFirstPart * even), even};
  synchronization_ = {};
  spare_room_ = {};
}

void CompetitiveMode::step_back(Time now, Time smoothed_rtt, const LinkShare& link_share) {
  leave();
  presumed_.step_back(now, smoothed_rtt, link_share.share());
}

void CompetitiveMode::leave() {
  on_ = wants_probe_ = false;
  evidence_ = 0;
  presumed_.end();
}

}  // namespace ccgym
