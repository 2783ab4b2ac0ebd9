#include "agents/policy/link_share.hh"

#include <algorithm>
#include <chrono>
#include <utility>

namespace ccgym {

namespace {

constexpr double kHeldShare = 0.125;  // of the window: more would let the rival take the room
constexpr double kClockPackets = 4;   // the clock of a link (1 ms in mahimahi) hides a shorter train, ...
constexpr double kLeastPackets = 2;   // ... but of a small window no more than half is held, or a pair
constexpr int kEnoughTrains = 4;
constexpr int kFewTrains = 2;       // where there is reason to presume a rival
constexpr int kMostDoublings = 10;  // of the time to the next train: a queue of one packet loses every one

// What is held back is not sent, so trains are rarer once the share is known. With one in four round trips a
// flow has 40 % of 36 links beside one Cubic and a mean Jain index of 0.92 among ten that join and leave,
// with one in six 42 % and 0.94, with one in ten 41 % and 0.92.
constexpr int kRoundTripsApart = 6;

// Flows that came while a queue stood did not know of each other: each took the queue for the path, and saw
// nobody drain it. Their trains tell: of two flows, one with 8 times the other's round trip, Jain's index is
// 0.93 in the mean of 96 links in place of 0.88. Such trains are three ticks of a link's clock long, and
// rare: with those of flows beside others a lone flow kept to 1.07 times the ideal window's p95 delay on 4 of
// 24 links in place of 20.
constexpr int kRareRoundTripsApart = 200;
constexpr double kShortTrainMs = 3;
constexpr double kOthersShare = 0.8;  // with more of the link what is missing may be the flow's own doing

constexpr Time kStandingQueue = std::chrono::milliseconds{2};  // a shorter one may be a link's clock
constexpr int kLeastContended = 4;  // this part of the time tells as much as all of it
// Of the sums, at every train. Who is alone again is to notice soon.
constexpr double kLinkRemembered = 0.8;
constexpr double kOwnRemembered = 0.5;

// A train is odd that took so many times as long as the others tell, or as much less, and a tick of the
// link's clock more. One is chance. By this the rates of recorded cellular links are told from a queue with a
// rival in it.
constexpr double kOddTimes = 1.25;
constexpr double kClockMs = 1;
constexpr double kOddRemembered = 0.8;
constexpr double kOddByChance = 1;

// A driver's time to send a train, and less than between two ticks of a link's clock.
constexpr Time kAtOnce = std::chrono::microseconds{500};

bool is_odd(double took_ms, double expected_ms) {
  return took_ms > kOddTimes * expected_ms + kClockMs || took_ms < expected_ms / kOddTimes - kClockMs;
}

}  // namespace

bool LinkShare::on_ack(Time now, const AckEvent& ack, double cwnd_packets, Interest interest) {
  const bool may_hold = interest != Interest::none;
  const auto packet_bytes = static_cast<double>(ack.newest().bytes);
  switch (phase_) {
    case Phase::waiting:
      note_delivered(now, ack);
      return may_hold && hold(now, cwnd_packets, ack.rtt.smoothed, interest);
    case Phase::holding:
      return may_hold ? send(now, cwnd_packets - static_cast<double>(ack.inflight_bytes) / packet_bytes)
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

bool LinkShare::hold(Time now, double cwnd_packets, Time smoothed_rtt, Interest interest) {
  if (now < closed_at_ + round_trips_apart(interest) * smoothed_rtt) return false;
  note_own_rate();
  double enough_packets = kHeldShare * cwnd_packets;
  if (interest == Interest::low)
    enough_packets = std::min(enough_packets, kShortTrainMs * cwnd_packets / in_ms(smoothed_rtt));
  held_packets_ = std::max(std::clamp(cwnd_packets / 2, kLeastPackets, kClockPackets), enough_packets);
  phase_ = Phase::holding;
  return true;
}

int LinkShare::round_trips_apart(Interest interest) const {
  if (lost_trains_ > 0) return 1 << lost_trains_;
  const bool is_rare = interest == Interest::low;
  if (trains_ < (is_rare ? kFewTrains : kEnoughTrains)) return 1;
  return is_rare ? kRareRoundTripsApart : kRoundTripsApart;
}

void LinkShare::note_delivered(Time now, const AckEvent& ack) {
  if (!waits_since_) return;
  const auto packets = static_cast<double>(ack.acked.size());
  const Time during = now - std::exchange(last_ack_at_, now);
  waited_.packets += packets;
  waited_.during += during;
  // Of the packets that a link with a clock delivers at once, the first has waited longest, and it brings the
  // time of all. So it answers for all of them: else a queue of a tick or two has the time, and not the
  // packets.
  if (now > tick_at_ + kAtOnce) {
    tick_at_ = now;
    queue_stands_ = ack.rtt.latest - ack.rtt.min > kStandingQueue;
  }
  if (!queue_stands_) return;
  contended_.packets += packets;
  contended_.during += during;
}

// Only while nothing is held back: with a small window that would be half of the rate. And where a queue
// stood for some of the time, only then: what a flow leaves unused by itself is nobody else's share, and it
// took itself for one of two for as long as its window went up and down.
void LinkShare::note_own_rate() {
  if (!waits_since_) return;
  contends_ = contended_.during * kLeastContended > waited_.during;
  const Delivered& counted = contends_ ? contended_ : waited_;
  own_.add(counted.packets, in_ms(counted.during), kOwnRemembered);
}

bool LinkShare::let_go() {
  waits_since_.reset();  // what was delivered until then has been noted
  phase_ = Phase::waiting;
  return true;
}

bool LinkShare::send(Time now, double held_packets) {
  if (held_packets < held_packets_) return false;
  phase_ = Phase::sending;
  train_ = {.sent_at = now};
  return true;
}

void LinkShare::note_arrivals(Time now, const AckEvent& ack) {
  for (const AckedPacket& packet : ack.acked) {
    if (!of_train(packet)) continue;
    if (train_.packets == 0) train_.first_arrival = packet.arrived_at(now);
    train_.last_arrival = packet.arrived_at(now);
    ++train_.packets;
  }
  if (ack.newest().sent_at > train_.sent_at + kAtOnce) close_train(now);
}

void LinkShare::close_train(Time now) {
  phase_ = Phase::waiting;
  waits_since_ = last_ack_at_ = now;
  waited_ = contended_ = {};
  const bool was_lost = train_.packets < static_cast<int>(std::min(held_packets_, kClockPackets));
  lost_trains_ = was_lost ? std::min(lost_trains_ + 1, kMostDoublings) : 0;
  closed_at_ = now;
  if (!was_lost) note_train();
}

void LinkShare::note_train() {
  const double packets = train_.packets - 1;
  const double took_ms = in_ms(train_.last_arrival - train_.first_arrival);
  if (const double known = link_packets_per_ms(); known > 0)
    odd_trains_ = kOddRemembered * odd_trains_ + (is_odd(took_ms, packets / known) ? 1 : 0);
  link_.add(packets, took_ms, kLinkRemembered);
  link_at_least_.add(packets, took_ms + kClockMs / 2, kLinkRemembered);
  ++trains_;
}

bool LinkShare::irregular() const { return trains_ >= kEnoughTrains && odd_trains_ > kOddByChance; }

// A train that meets no queue begins with all packets of a tick, and seems faster than the link: by a half
// with three ticks, and a lone flow then gave way to nobody.
bool LinkShare::leaves_others_after(int trains) const {
  const double least_packets_per_ms = link_at_least_.packets_per_ms();
  return contends_ && !irregular() && trains_ >= trains &&
         own_.packets_per_ms() < kOthersShare * least_packets_per_ms;
}

bool LinkShare::hints_at_others() const { return leaves_others_after(kFewTrains); }

bool LinkShare::shows_others() const { return leaves_others_after(kEnoughTrains); }

bool LinkShare::of_train(const AckedPacket& packet) const {
  return packet.sent_at >= train_.sent_at && packet.sent_at <= train_.sent_at + kAtOnce;
}

void LinkShare::RateEstimate::add(double more_packets, double more_ms, double remembered) {
  packets = remembered * packets + more_packets;
  ms = remembered * ms + more_ms;
}

double LinkShare::limit(double cwnd_packets) const {
  return phase_ == Phase::holding ? cwnd_packets - held_packets_ : cwnd_packets;
}

std::optional<double> LinkShare::share() const { return share_after(kEnoughTrains); }

std::optional<double> LinkShare::early_share() const { return share_after(kFewTrains); }

std::optional<double> LinkShare::share_after(int trains) const {
  if (trains_ < trains || link_packets_per_ms() == 0) return std::nullopt;
  return own_.packets_per_ms() / link_packets_per_ms();
}

double LinkShare::link_packets_per_ms() const { return link_.packets_per_ms(); }

}  // namespace ccgym
