#include "agents/companion/queue_steadiness.hh"

#include <algorithm>
#include <chrono>
#include <utility>

namespace ccgym {

namespace {

constexpr Time kClock = std::chrono::milliseconds{1};  // of mahimahi's links; a shorter queue is none
constexpr int kSameTimes = 3;  // a queue has stayed if it changed by less than a third, ...
constexpr Time kSame = std::chrono::microseconds{500};  // ... or by less than half a tick
constexpr int kRemembered = 32;                         // round trips
constexpr int kPresumed = 3;  // a new flow starts as if it had seen so many round trips, half of them steady

// On cellular, wandering and Poisson links where a lone flow's queue falls without its doing, the queue stays
// in 30 % of the round trips at the median. Beside one Copa it stays in 57 %, beside one flow of our kind
// with twice or half the round trip in 64 %.
constexpr double kUnsteady = 0.36;

}  // namespace

void QueueSteadiness::on_ack(Time now, const RttStats& rtt, double cwnd_packets) {
  least_ = std::min(least_, rtt.latest - rtt.min);
  if (now <= round_ends_at_) return;
  round_ends_at_ = now + rtt.smoothed;
  const auto packet_time = static_cast<int64_t>(static_cast<double>(rtt.smoothed.count()) / cwnd_packets);
  compare(std::exchange(least_, Time::max()), std::max(kClock, Time{packet_time}));
}

void QueueSteadiness::on_own_drain() {
  before_.reset();
  least_ = Time::max();
}

// A round trip that follows one without a queue does not count.
void QueueSteadiness::compare(Time least, Time noise) {
  const std::optional<Time> before = std::exchange(before_, least);
  if (!before || *before < noise) return;
  round_trips_ = std::min(round_trips_ + 1, kRemembered - kPresumed);
  const bool is_same = std::chrono::abs(least - *before) < std::max(*before / kSameTimes, kSame);
  steady_part_ += ((is_same ? 1 : 0) - steady_part_) / (round_trips_ + kPresumed);
}

bool QueueSteadiness::is_unsteady() const { return steady_part_ < kUnsteady; }

}  // namespace ccgym
