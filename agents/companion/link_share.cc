#include "agents/companion/link_share.hh"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace ccgym {

namespace {

constexpr double kHeldShare = 0.125;  // of the window; if more were held back, a rival would take the room
// The first trains, which ask whether there are others at all, hold back no more than the flow sends in this
// time: the link of a flow alone idles meanwhile. On 300 Mbit/s and 800 ms a flow alone has 85 % of the ideal
// throughput in its first 30 s with this limit, without it 82 %. With 25 ms two flows, one of 8 times the
// other's round trip, may not find each other (tests/agents/test_competing_flows.py).
constexpr double kMostHeldMs = 40;
constexpr int kShortTrains = 6;      // as many as peaks of the queue ask for (queue_peaks.cc)
constexpr double kClockPackets = 4;  // a shorter train hides in the clock of the link (1 ms in mahimahi), ...
constexpr double kMinPackets = 2;    // ... but a small window holds back half of itself, at least a pair
constexpr int kEnoughTrains = 4;
constexpr int kFewTrains = 2;      // for an early estimate, when a rival is presumed
constexpr int kMaxDoublings = 10;  // of the time to the next train: a queue of one packet loses every train

// Packets held back are not sent, so trains are rarer once the share is known. With a train in every four
// round trips a flow has 40 % of 36 links beside one Cubic and a mean Jain's index of 0.92 among ten flows
// that join and leave; with one in six 42 % and 0.94, with one in ten 41 % and 0.92.
constexpr int kRoundTripsApart = 6;

constexpr Time kStandingQueue = std::chrono::milliseconds{2};  // a shorter one may come from the link's clock
constexpr int kMinContended = 4;  // with a queue for 1/4 of the time, that part is used by itself
// The part of the sums that is kept at each train. The flow's own rate is forgotten faster, so that it soon
// notices when it is alone again.
constexpr double kLinkRemembered = 0.8;
constexpr double kOwnRemembered = 0.5;

// A train is odd if it took this many times as long as the other trains predict, or as much shorter, and a
// tick of the link's clock beyond that. One odd train is chance. This tells the varying rates of recorded
// cellular links from a queue with a rival in it.
constexpr double kOddTimes = 1.25;
constexpr double kClockMs = 1;
constexpr double kOddRemembered = 0.8;
constexpr double kOddByChance = 1;

// A link with a clock sends a batch of packets at each tick. In a queue, a train begins anywhere in a batch.
// A train that meets no queue fills the first one, and takes half a tick less in the mean than the link needs
// for it. Without this correction a lone flow took a Poisson link of 121 Mbit/s and 8 ms for one of about 190
// Mbit/s, of which it had half, and 600 random links have 0.002 (0.000 to 0.003) less mean log power.
constexpr double kMissingTick = 0.5;

// Others show only if the share is small enough even with so many standard errors added to it: where packets
// leave at random, a short train takes now more and now less time than the link's rate says. Without this
// rule a flow alone on the calibrated path to Brazil believed in others for 6 % of the time, with it for 3.
constexpr double kStandardErrors = 2;

constexpr Time kAtOnce = std::chrono::microseconds{500};  // a driver sends a train within this time

bool is_odd(double took_ms, double expected_ms) {
  return took_ms > kOddTimes * expected_ms + kClockMs || took_ms < expected_ms / kOddTimes - kClockMs;
}

}  // namespace

bool LinkShare::on_ack(Time now, const AckEvent& ack, double cwnd_packets, bool may_hold) {
  const auto packet_bytes = static_cast<double>(ack.newest().bytes);
  switch (phase_) {
    case Phase::waiting:
      note_delivered(now, ack);
      return may_hold && hold(now, ack.rtt, cwnd_packets);
    case Phase::holding:  // a window smaller than what is held back would never release it
      return may_hold && cwnd_packets >= held_packets_
                 ? send(now, cwnd_packets, static_cast<double>(ack.inflight_bytes) / packet_bytes)
                 : let_go();
    case Phase::sending:
      if (now < train_.sent_at + kAtOnce) return false;
      phase_ = Phase::arriving;
      note_arrivals(now, ack);
      return true;
    case Phase::arriving:
      note_arrivals(now, ack);
      return false;
  }
  return false;
}

bool LinkShare::hold(Time now, const RttStats& rtt, double cwnd_packets) {
  if (now < next_at_) return false;
  note_own_rate();
  const double short_share = std::min(kHeldShare, kMostHeldMs / in_ms(rtt.smoothed));
  const double share = trains_ < kShortTrains ? short_share : kHeldShare;
  held_packets_ = std::max(std::clamp(cwnd_packets / 2, kMinPackets, kClockPackets), share * cwnd_packets);
  phase_ = Phase::holding;
  return true;
}

void LinkShare::note_delivered(Time now, const AckEvent& ack) {
  if (!waits_since_) return;
  const auto packets = static_cast<double>(ack.acked.size());
  const Time during = now - std::exchange(last_ack_at_, now);
  waited_.packets += packets;
  waited_.during += during;
  if (ack.rtt.latest - ack.rtt.min <= kStandingQueue) return;
  contended_.packets += packets;
  contended_.during += during;
}

// Measured only while nothing is held back: a train of a small window is half of its packets. If a queue
// stood for some of the time, only that part counts: what a flow leaves unused by itself is nobody else's
// share, and a flow took itself for one of two for as long as its window went up and down. But where the
// link's own rate varies, a queue stands while the link is slow: by that part of the time a flow alone had
// three quarters of the link, by all of it the whole. So that part counts only if it shows the higher rate.
void LinkShare::note_own_rate() {
  if (!waits_since_) return;
  contends_ = contended_.during * kMinContended > waited_.during;
  const bool by_queue = contends_ && contended_.packets_per_ms() > waited_.packets_per_ms();
  const Delivered& counted = by_queue ? contended_ : waited_;
  own_.add(counted.packets, in_ms(counted.during), kOwnRemembered);
}

bool LinkShare::let_go() {
  waits_since_.reset();  // what was delivered until then has been noted
  phase_ = Phase::waiting;
  return true;
}

// Room that came from a growing window while packets were held back is no part of the train. When all of it
// was sent at once, 159 of 214 packets were lost as competitive mode began on a real mahimahi link with a
// queue of 173.
bool LinkShare::send(Time now, double cwnd_packets, double inflight_packets) {
  if (cwnd_packets - inflight_packets < held_packets_) return false;
  phase_ = Phase::sending;
  most_packets_ = inflight_packets + held_packets_;
  train_ = {.sent_at = now};
  return true;
}

void LinkShare::note_arrivals(Time now, const AckEvent& ack) {
  for (const AckedPacket& packet : ack.acked) {
    if (!of_train(packet)) continue;
    if (train_.packets == 0) train_.met_queue = now - packet.sent_at - ack.rtt.min > kStandingQueue;
    train_.add(packet.arrived_at(now));
  }
  if (ack.newest().sent_at > train_.sent_at + kAtOnce) close_train(now, ack);
}

void LinkShare::Train::add(Time arrival) {
  if (packets == 0) first_arrival = arrival;
  if (packets == 0 || arrival != last_arrival) ++arrivals;
  last_arrival = arrival;
  ++packets;
}

double LinkShare::Train::took_ms() const {
  const double between_ms = in_ms(last_arrival - first_arrival);
  if (met_queue) return between_ms;
  const double tick_ms = arrivals > 1 ? between_ms / (arrivals - 1) : kClockMs;
  return between_ms + kMissingTick * tick_ms * (1 - arrivals / static_cast<double>(packets));
}

void LinkShare::close_train(Time now, const AckEvent& ack) {
  phase_ = Phase::waiting;
  waits_since_ = last_ack_at_ = now;
  waited_ = contended_ = {};
  const bool was_lost = train_.packets < static_cast<int>(std::min(held_packets_, kClockPackets));
  lost_trains_ = was_lost ? std::min(lost_trains_ + 1, kMaxDoublings) : 0;
  const int round_trips = was_lost ? 1 << lost_trains_ : trains_ < kEnoughTrains ? 1 : kRoundTripsApart;
  next_at_ = now + round_trips * ack.rtt.smoothed;
  if (was_lost) return;
  note_train();
}

void LinkShare::note_train() {
  const double packets = train_.packets - 1;
  const double took_ms = train_.took_ms();
  if (const double known = link_packets_per_ms(); known > 0) {
    odd_trains_ = kOddRemembered * odd_trains_ + (is_odd(took_ms, packets / known) ? 1 : 0);
    spread_.add(took_ms * known / packets - 1);
  }
  link_.add(packets, took_ms, kLinkRemembered);
  counted_trains_ = kLinkRemembered * counted_trains_ + 1;
  ++trains_;
}

bool LinkShare::irregular() const { return trains_ >= kEnoughTrains && odd_trains_ > kOddByChance; }

bool LinkShare::leaves_others(std::optional<double> share, double most) const {
  const double highest = share.value_or(1) * (1 + kStandardErrors * spread_.standard_error());
  return contends_ && !irregular() && highest < most;
}

bool LinkShare::of_train(const AckedPacket& packet) const {
  return packet.sent_at >= train_.sent_at && packet.sent_at <= train_.sent_at + kAtOnce;
}

void LinkShare::Spread::add(double deviation) {
  squares = kLinkRemembered * squares + deviation * deviation;
  trains = kLinkRemembered * trains + 1;
}

double LinkShare::Spread::standard_error() const { return trains > 0 ? std::sqrt(squares) / trains : 0; }

void LinkShare::RateEstimate::add(double more_packets, double more_ms, double remembered) {
  packets = remembered * packets + more_packets;
  ms = remembered * ms + more_ms;
}

double LinkShare::limit(double cwnd_packets) const {
  if (phase_ == Phase::sending) return std::min(cwnd_packets, most_packets_);
  return phase_ == Phase::holding ? std::max(0.0, cwnd_packets - held_packets_) : cwnd_packets;
}

std::optional<double> LinkShare::share() const { return share_after(kEnoughTrains); }

std::optional<double> LinkShare::early_share() const { return share_after(kFewTrains); }

std::optional<double> LinkShare::share_after(int trains) const {
  if (trains_ < trains || link_packets_per_ms() == 0) return std::nullopt;
  return own_.packets_per_ms() / link_packets_per_ms();
}

// Trains that arrive within one tick of the link's clock give a lower bound of the link's rate. Without that
// bound, beside a Cubic on 244 Mbit/s with a queue of 1.6 s, the trains of a flow that had given way showed
// nothing for two minutes, in which it had next to nothing of the link; with the bound it has a third.
double LinkShare::link_packets_per_ms() const {
  return link_.ms > 0 ? link_.packets_per_ms() : link_.packets / (kClockMs * std::max(counted_trains_, 1.0));
}

}  // namespace ccgym
