#include "agents/companion/link_share.hh"

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

// Of the link; with more of it, what is missing may be the flow's own doing. Flows that come while a queue
// stands do not know of each other: each takes the queue for the path, and sees nobody drain it. By their
// shares they do: ten that join and leave have a Jain index of 0.96 in the mean of 96 runs in place of 0.90.
constexpr double kOthersShare = 0.75;

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

constexpr Time kAtOnce = std::chrono::microseconds{500};  // a driver's time to send a train

bool is_odd(double took_ms, double expected_ms) {
  return took_ms > kOddTimes * expected_ms + kClockMs || took_ms < expected_ms / kOddTimes - kClockMs;
}

}  // namespace

bool LinkShare::on_ack(Time now, const AckEvent& ack, double cwnd_packets, bool may_hold) {
  const auto packet_bytes = static_cast<double>(ack.newest().bytes);
  switch (phase_) {
    case Phase::waiting:
      note_delivered(now, ack);
      return may_hold && hold(now, cwnd_packets);
    case Phase::holding:  // a window that has become smaller than what is held back would never let it go
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

bool LinkShare::hold(Time now, double cwnd_packets) {
  if (now < next_at_) return false;
  note_own_rate();
  held_packets_ =
      std::max(std::clamp(cwnd_packets / 2, kLeastPackets, kClockPackets), kHeldShare * cwnd_packets);
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

// Only while nothing is held back: with a small window that would be half of the rate. And where a queue
// stood for some of the time, only then: what a flow leaves unused by itself is nobody else's share, and it
// took itself for one of two for as long as its window went up and down. But a queue stands where the link
// has been slow: of one whose own rate varies, a flow alone had three quarters by that time, and the whole by
// all of it.
void LinkShare::note_own_rate() {
  if (!waits_since_) return;
  contends_ = contended_.during * kLeastContended > waited_.during;
  const bool by_queue = contends_ && contended_.packets_per_ms() > waited_.packets_per_ms();
  const Delivered& counted = by_queue ? contended_ : waited_;
  own_.add(counted.packets, in_ms(counted.during), kOwnRemembered);
}

bool LinkShare::let_go() {
  waits_since_.reset();  // what was delivered until then has been noted
  phase_ = Phase::waiting;
  return true;
}

// A window that has grown meanwhile is no part of the train: all of it at once was 159 of 214 packets lost as
// competitive mode began on a real mahimahi link with a queue of 173.
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
    if (train_.packets == 0) train_.first_arrival = packet.arrived_at(now);
    train_.last_arrival = packet.arrived_at(now);
    ++train_.packets;
  }
  if (ack.newest().sent_at > train_.sent_at + kAtOnce) close_train(now, ack);
}

void LinkShare::close_train(Time now, const AckEvent& ack) {
  phase_ = Phase::waiting;
  waits_since_ = last_ack_at_ = now;
  waited_ = contended_ = {};
  const bool was_lost = train_.packets < static_cast<int>(std::min(held_packets_, kClockPackets));
  lost_trains_ = was_lost ? std::min(lost_trains_ + 1, kMostDoublings) : 0;
  const int round_trips = was_lost ? 1 << lost_trains_ : trains_ < kEnoughTrains ? 1 : kRoundTripsApart;
  next_at_ = now + round_trips * ack.rtt.smoothed;
  if (was_lost) return;
  note_train();
}

void LinkShare::note_train() {
  const double packets = train_.packets - 1;
  const double took_ms = in_ms(train_.last_arrival - train_.first_arrival);
  if (const double known = link_packets_per_ms(); known > 0)
    odd_trains_ = kOddRemembered * odd_trains_ + (is_odd(took_ms, packets / known) ? 1 : 0);
  link_.add(packets, took_ms, kLinkRemembered);
  counted_trains_ = kLinkRemembered * counted_trains_ + 1;
  ++trains_;
}

bool LinkShare::irregular() const { return trains_ >= kEnoughTrains && odd_trains_ > kOddByChance; }

bool LinkShare::leaves_others(std::optional<double> share) const {
  return contends_ && !irregular() && share.value_or(1) < kOthersShare;
}

bool LinkShare::of_train(const AckedPacket& packet) const {
  return packet.sent_at >= train_.sent_at && packet.sent_at <= train_.sent_at + kAtOnce;
}

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

// Trains that arrive within a tick of the link's clock tell the least that it can be: beside a Cubic on
// 244 Mbit/s, with a queue of 1.6 s, the trains of a flow that had given way told nothing for two minutes,
// in which it had next to nothing of the link in place of a third.
double LinkShare::link_packets_per_ms() const {
  return link_.ms > 0 ? link_.packets_per_ms() : link_.packets / (kClockMs * std::max(counted_trains_, 1.0));
}

}  // namespace ccgym
