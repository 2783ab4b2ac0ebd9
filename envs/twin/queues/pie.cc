#include "envs/twin/queues/pie.hh"

#include <algorithm>

#include "envs/twin/packet_sizes.hh"

namespace ccgym {

namespace {

constexpr double kAlpha = 0.125;            // per ms that the delay is above the target
constexpr double kBeta = 1.25;              // per ms that the delay has risen since the last update
constexpr int64_t kUpdateMs = 30;           // T_UPDATE
constexpr double kMaxMarked = 0.1;          // RFC 8033, section 5.1: mark_ecnth
constexpr int64_t kMeasuredBytes = 16'384;  // DQ_THRESHOLD: the drain rate is measured over so many bytes
constexpr int64_t kShortQueueBytes = 2 * kOpportunityBytes;  // a shorter queue drops nothing early

// Divides the change of the drop probability: small probabilities change in small steps.
double damping(double probability) {
  if (probability < 0.01) return 128;
  return probability < 0.1 ? 32 : 16;
}

}  // namespace

void Pie::enqueue(const LinkPacket& packet, WaitingLine& line, DroppedPackets& dropped) {
  update(packet.arrival_ns / kNsPerMs, line.bytes());
  if (!line.has_room_for(packet)) return dropped.push_back(packet);
  LinkPacket taken = packet;
  const bool stays =
      !drops_early(line.bytes()) || (parameters_.ecn && probability_ <= kMaxMarked && taken.label.mark());
  stays ? line.push(taken) : dropped.push_back(taken);
}

void Pie::dequeue(int64_t now_ns, WaitingLine& line, LinkPacket& packet, DroppedPackets& /*dropped*/) {
  line.pop(packet);
  measure(now_ns / kNsPerMs, packet.bytes, line.bytes());
  update(now_ns / kNsPerMs, line.bytes());
}

// Whether a packet that arrives at a line of `waiting_bytes` is to be dropped.
bool Pie::drops_early(int64_t waiting_bytes) {
  if (burst_allowance_ms_ > 0 || waiting_bytes < kShortQueueBytes) return false;
  if (previous_delay_ms_ < parameters_.qdelay_ref_ms / 2 && probability_ < 0.2) return false;
  return random_.uniform() < probability_;
}

// Measures the drain rate: `taken_bytes` have just left a line that still holds `waiting_bytes`.
void Pie::measure(int64_t now_ms, int64_t taken_bytes, int64_t waiting_bytes) {
  if (!measuring_ && waiting_bytes >= kMeasuredBytes) {
    measuring_ = true;
    measured_since_ms_ = now_ms;
    measured_bytes_ = 0;
  }
  if (!measuring_) return;
  measured_bytes_ += taken_bytes;
  const int64_t took_ms = now_ms - measured_since_ms_;
  if (measured_bytes_ <= kMeasuredBytes || took_ms <= 0) return;
  const int64_t sample = measured_bytes_ / took_ms;
  bytes_per_ms_ = bytes_per_ms_ == 0 ? sample : bytes_per_ms_ - (bytes_per_ms_ >> 3) + (sample >> 3);
  measuring_ = waiting_bytes >= kMeasuredBytes;
  measured_since_ms_ = now_ms;
  measured_bytes_ = 0;
  burst_allowance_ms_ = std::max<int64_t>(0, burst_allowance_ms_ - took_ms);
}

// Runs the updates of the drop probability that were due until `now_ms`.
void Pie::update(int64_t now_ms, int64_t waiting_bytes) {
  for (; now_ms - last_update_ms_ > kUpdateMs; last_update_ms_ += kUpdateMs) {
    previous_delay_ms_ = delay_ms_;
    delay_ms_ = bytes_per_ms_ > 0 ? waiting_bytes / bytes_per_ms_ : 0;
    adjust_probability(waiting_bytes);
    burst_allowance_ms_ = std::max<int64_t>(0, burst_allowance_ms_ - kUpdateMs);
    reset_when_idle();
  }
}

// The probability decays while the queue is empty. A delay of 0 ms with packets waiting does not count as
// that: the drain rate may be unknown.
void Pie::adjust_probability(int64_t waiting_bytes) {
  const double change = kAlpha * static_cast<double>(delay_ms_ - parameters_.qdelay_ref_ms) +
                        kBeta * static_cast<double>(delay_ms_ - previous_delay_ms_);
  const double wanted = probability_ + change / damping(probability_);
  probability_ = std::clamp(wanted, 0.0, 1.0);
  const bool stays_empty = delay_ms_ == 0 && previous_delay_ms_ == 0 && waiting_bytes == 0;
  if (stays_empty && wanted <= 1) probability_ *= 0.98;
}

// While nothing is dropped and delays are below half of the target, a new burst is allowed.
void Pie::reset_when_idle() {
  const int64_t half_ms = parameters_.qdelay_ref_ms / 2;
  if (probability_ > 0 || delay_ms_ >= half_ms || previous_delay_ms_ >= half_ms || bytes_per_ms_ == 0) return;
  measuring_ = false;
  bytes_per_ms_ = 0;
  burst_allowance_ms_ = parameters_.max_burst_ms;
}

}  // namespace ccgym
