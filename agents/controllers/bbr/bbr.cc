#include "agents/controllers/bbr/bbr.hh"

#include <algorithm>
#include <array>

namespace ccgym {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int64_t kInitialWindowPackets = 10;                                 // RFC 6928
constexpr int64_t kMinWindowPackets = 4;                                      // BBRMinPipeCwnd
constexpr double kHighGain = 2.885;                                           // 2 / ln 2: startup doubles
constexpr double kCwndGain = 2;                                               // section 4.2.3.2
constexpr std::array kPacingGains{1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};  // section 4.3.4.1
constexpr double kPacingMargin = 0.99;               // Linux: a percent for queues to drain
constexpr Time kMinRttWindow = seconds{10};          // RTpropFilterLen
constexpr Time kProbeRttTime = milliseconds{200};    // section 4.3.5
constexpr Time kMaxAggregation = milliseconds{100};  // Linux: extra_acked as a time
constexpr Time kNominalRtt = milliseconds{1};        // section 4.2.1
constexpr double kSlowMbps = 1.2;                    // section 4.2.2: send quantum
constexpr double kMaxQuantumBytes = 64 * 1024;

double bytes_in(double rate_mbps, Time time) { return rate_mbps * static_cast<double>(time.count()) / 8e3; }

}  // namespace

Bbr::Bbr(int64_t packet_bytes, uint64_t seed)
    : packet_bytes_{packet_bytes},
      cwnd_bytes_{kInitialWindowPackets * packet_bytes},
      random_{static_cast<std::minstd_rand::result_type>(seed)} {
  pace_window(kNominalRtt);
}

void Bbr::on_sent(Time /*now*/, const SentPacket& packet) { next_seq_ = packet.seq + 1; }

void Bbr::on_ack(Time now, const AckedPacket& reported) {
  AckedPacket packet = reported;
  packet.rate.app_limited |= probing_rtt_.covers(packet.rate);
  delivered_bytes_ = packet.delivered_bytes;
  if (rounds_.on_ack(packet)) {
    bw_mbps_.advance();
    aggregation_.on_round();
    recovery_.conserving = false;
  }
  update_bandwidth(now, packet);
  aggregation_.on_ack(now, packet.bytes, bandwidth_mbps(), cwnd_bytes_);
  update_cycle(now, packet);
  update_mode(now, packet);
  update_min_rtt(now, packet);
  set_pacing(packet.rtt);
  set_cwnd(packet);
  recovery_.lost_bytes = 0;
}

void Bbr::on_loss(Time /*now*/, const Loss& loss) {
  for (const LostPacket& packet : loss.packets) {
    recovery_.lost_bytes += packet.bytes;
    policer_.on_lost(packet.bytes);
  }
  const auto is_new = [this](const LostPacket& packet) { return packet.seq >= recovery_.ends_at_seq; };
  if (!loss.timeout && !std::ranges::any_of(loss.packets, is_new)) return;
  save_cwnd();
  if (!recovery_.active && !loss.timeout) rounds_.begin_at(delivered_bytes_);
  recovery_.active = true;
  recovery_.conserving = !loss.timeout;
  recovery_.ends_at_seq = next_seq_;
  recovery_.lost_bytes = 0;
  cwnd_bytes_ = loss.inflight_bytes + packet_bytes_;
  if (loss.timeout) full_pipe_.forget_growth();
}

// Linux: whatever the time-out seemed to tell of the path is forgotten.
void Bbr::on_spurious_timeout(Time /*now*/) {
  recovery_.active = false;
  cwnd_bytes_ = std::max(cwnd_bytes_, recovery_.prior_cwnd_bytes);
  full_pipe_.forget_growth();
  policer_.forget();
}

double Bbr::pacing_gain() const {
  switch (mode_) {
    case Mode::startup:
      return kHighGain;
    case Mode::drain:
      return 1 / kHighGain;
    case Mode::probe_bw:
      return policer_.bandwidth_mbps() ? 1 : kPacingGains[phase_];
    case Mode::probe_rtt:
      break;
  }
  return 1;
}

double Bbr::cwnd_gain() const {
  return mode_ == Mode::probe_bw ? kCwndGain : mode_ == Mode::probe_rtt ? 1 : kHighGain;
}

// A sample over less than a round trip is an artefact of ACKs that come in a burst (Linux).
void Bbr::update_bandwidth(Time now, const AckedPacket& packet) {
  const RateSample& rate = packet.rate;
  const bool probing = mode_ == Mode::probe_bw;
  if (policer_.on_delivery({now, packet.delivered_bytes, rounds_.begins(), rate.app_limited}, probing)) {
    enter_probe_bw(now);
  }
  if (rate.interval < packet.rtt.min || rate.interval <= Time::zero()) return;
  const double bw_mbps =
      static_cast<double>(rate.delivered_bytes) * 8e3 / static_cast<double>(rate.interval.count());
  if (!rate.app_limited || bw_mbps >= bw_mbps_.best()) bw_mbps_.update(bw_mbps);
}

// Section 4.3.4.3.
void Bbr::update_cycle(Time now, const AckedPacket& packet) {
  if (mode_ != Mode::probe_bw || !phase_is_over(now, packet)) return;
  phase_ = (phase_ + 1) % kPacingGains.size();
  phase_began_ = now;
}

bool Bbr::phase_is_over(Time now, const AckedPacket& packet) const {
  const bool round_trip = now - phase_began_ > min_rtt_;
  const int64_t prior_inflight = packet.inflight_bytes + packet.bytes + recovery_.lost_bytes;
  const double gain = pacing_gain();
  if (gain > 1) return round_trip && (recovery_.lost_bytes > 0 || prior_inflight >= inflight_bytes(gain));
  if (gain < 1) return round_trip || prior_inflight <= inflight_bytes(1);
  return round_trip;
}

// A random phase, but never the one that drains.
void Bbr::enter_probe_bw(Time now) {
  mode_ = Mode::probe_bw;
  const std::size_t back = random_() % (kPacingGains.size() - 1);
  phase_ = (kPacingGains.size() - back) % kPacingGains.size();
  phase_began_ = now;
}

void Bbr::update_mode(Time now, const AckedPacket& packet) {
  if (rounds_.begins() && !full_pipe_.reached() && !packet.rate.app_limited) {
    full_pipe_.on_round(bw_mbps_.best());
  }
  if (mode_ == Mode::startup && full_pipe_.reached()) mode_ = Mode::drain;
  if (mode_ == Mode::drain && packet.inflight_bytes <= inflight_bytes(1)) enter_probe_bw(now);
}

// Section 4.1.2.
void Bbr::update_min_rtt(Time now, const AckedPacket& packet) {
  const bool expired = now > min_rtt_at_ + kMinRttWindow;
  if (packet.rtt.latest < min_rtt_ || expired) {
    min_rtt_ = packet.rtt.latest;
    min_rtt_at_ = now;
  }
  if (expired && mode_ != Mode::probe_rtt) {
    save_cwnd();
    mode_ = Mode::probe_rtt;
    probe_rtt_until_.reset();
  }
  if (mode_ == Mode::probe_rtt) probe_rtt(now, packet);
}

// Section 4.3.5: 200 ms and a round trip with four packets in flight.
void Bbr::probe_rtt(Time now, const AckedPacket& packet) {
  probing_rtt_.on_ack(packet);
  if (!probe_rtt_until_) {
    if (packet.inflight_bytes > kMinWindowPackets * packet_bytes_) return;
    probe_rtt_until_ = now + kProbeRttTime;
    probe_rtt_round_done_ = false;
    rounds_.begin_at(packet.delivered_bytes);
    return;
  }
  probe_rtt_round_done_ |= rounds_.begins();
  if (!probe_rtt_round_done_ || now <= *probe_rtt_until_) return;
  min_rtt_at_ = now;
  cwnd_bytes_ = std::max(cwnd_bytes_, recovery_.prior_cwnd_bytes);
  full_pipe_.reached() ? enter_probe_bw(now) : void(mode_ = Mode::startup);
}

void Bbr::save_cwnd() {
  const bool reduced = recovery_.active || mode_ == Mode::probe_rtt;
  recovery_.prior_cwnd_bytes = reduced ? std::max(recovery_.prior_cwnd_bytes, cwnd_bytes_) : cwnd_bytes_;
}

// Section 4.2.1: the pace of the initial window.
void Bbr::pace_window(Time rtt) {
  const double window_mbps =
      static_cast<double>(cwnd_bytes_) * 8e3 / static_cast<double>(std::max(rtt, Time{1}).count());
  pacing_mbps_ = kHighGain * window_mbps * kPacingMargin;
}

// Section 4.2.1. The first round trip says what the initial window is paced by; from then on startup never
// slows down.
void Bbr::set_pacing(const RttStats& rtt) {
  if (!rtt_is_known_) pace_window(rtt.smoothed);
  rtt_is_known_ = true;
  const double mbps = pacing_gain() * bandwidth_mbps() * kPacingMargin;
  if (full_pipe_.reached() || mbps > pacing_mbps_) pacing_mbps_ = mbps;
}

// Section 4.2.3.
void Bbr::set_cwnd(const AckedPacket& packet) {
  const int64_t least = kMinWindowPackets * packet_bytes_;
  if (!conserve_or_restore(packet)) {
    const double extra = full_pipe_.reached() ? std::min(aggregation_.extra_bytes(),
                                                         bytes_in(bandwidth_mbps(), kMaxAggregation))
                                              : 0;
    const int64_t target = inflight_bytes(cwnd_gain(), extra);
    if (full_pipe_.reached()) {
      cwnd_bytes_ = std::min(cwnd_bytes_ + packet.bytes, target);
    } else if (cwnd_bytes_ < target || packet.delivered_bytes < kInitialWindowPackets * packet_bytes_) {
      cwnd_bytes_ += packet.bytes;
    }
    cwnd_bytes_ = std::max(cwnd_bytes_, least);
  }
  if (mode_ == Mode::probe_rtt) cwnd_bytes_ = std::min(cwnd_bytes_, least);
}

// Section 4.2.3.4; true while packet conservation decides the window.
bool Bbr::conserve_or_restore(const AckedPacket& packet) {
  cwnd_bytes_ = std::max(cwnd_bytes_ - recovery_.lost_bytes, packet_bytes_);
  if (recovery_.active && packet.seq >= recovery_.ends_at_seq) {
    recovery_.active = recovery_.conserving = false;
    cwnd_bytes_ = std::max(cwnd_bytes_, recovery_.prior_cwnd_bytes);
  }
  if (recovery_.conserving) cwnd_bytes_ = std::max(cwnd_bytes_, packet.inflight_bytes + packet.bytes);
  return recovery_.conserving;
}

int64_t Bbr::send_quantum_packets() const {
  const int64_t least = pacing_mbps_ < kSlowMbps ? 1 : 2;
  const double most_bytes = std::min(bytes_in(pacing_mbps_, milliseconds{1}), kMaxQuantumBytes);
  return std::max(static_cast<int64_t>(most_bytes / static_cast<double>(packet_bytes_)), least);
}

// Section 4.2.3.2, BBRInflight: the BDP, and what keeps a sender busy that sends in quanta; an even number of
// packets (Linux), of which a receiver acknowledges every second one at once.
int64_t Bbr::inflight_bytes(double gain, double extra_bytes) const {
  if (min_rtt_ == Time::max()) return kInitialWindowPackets * packet_bytes_;
  const double bdp_packets =
      (gain * bytes_in(bandwidth_mbps(), min_rtt_) + extra_bytes) / static_cast<double>(packet_bytes_);
  const auto whole_packets = static_cast<int64_t>(bdp_packets);
  const int64_t part_packet = bdp_packets > static_cast<double>(whole_packets) ? 1 : 0;
  const int64_t packets = whole_packets + part_packet + 3 * send_quantum_packets();
  const int64_t probe_packets = mode_ == Mode::probe_bw && phase_ == 0 ? 2 : 0;
  return (packets + packets % 2 + probe_packets) * packet_bytes_;
}

}  // namespace ccgym
