#include "agents/controllers/new_reno.hh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace ccgym {

namespace {

constexpr int64_t kLossWindowPackets = 1;   // RFC 5681 section 3.1: after a timeout
constexpr int64_t kMinSsthreshPackets = 2;  // RFC 5681 eq. 4

}  // namespace

NewReno::NewReno(int64_t packet_bytes)
    : packet_bytes_{packet_bytes},
      state_{.cwnd_bytes = kInitialWindowPackets * packet_bytes,
             .ssthresh_bytes = std::numeric_limits<int64_t>::max()},
      recovery_{packet_bytes} {}

void NewReno::on_ack(Time /*now*/, const AckEvent& ack) {
  if (!ack.lost.empty() || ack.ce_packets > 0) respond_to_congestion(ack);
  if (ack.acked.empty()) return;
  if (!recovery_.is_older(ack.newest().seq)) before_timeout_.reset();
  if (recovery_.active()) state_.cwnd_bytes = recovery_.on_ack(ack);
  if (!recovery_.active() && ack.limited_by != Limit::application) grow(ack.acked_bytes());
}

void NewReno::respond_to_congestion(const AckEvent& ack) {
  if (!recovery_.begins_with(ack)) return recovery_.count(ack);
  before_losses_ = state_;
  if (ack.lost.empty()) {
    reduce(std::llround(mark_beta_ * static_cast<double>(state_.cwnd_bytes)));
  } else {
    reduce(inflight_before(ack) / 2);  // RFC 5681 eq. 4
  }
  state_.cwnd_bytes = recovery_.begin(ack, state_.ssthresh_bytes);
}

void NewReno::on_timeout(Time /*now*/, const Timeout& timeout) {
  if (!before_timeout_) {  // RFC 5681 section 3.1: consecutive time-outs reduce ssthresh once
    before_timeout_ = {state_, recovery_};
    reduce(inflight_before(timeout) / 2);
  }
  recovery_.abandon(timeout);
  state_.cwnd_bytes = kLossWindowPackets * packet_bytes_;
}

void NewReno::reduce(int64_t window_bytes) {
  state_.ssthresh_bytes = std::max(window_bytes, kMinSsthreshPackets * packet_bytes_);
  state_.acked_in_window_bytes = 0;
}

// ssthresh is shown as infinite until slow start has ended once.
std::vector<Metric> NewReno::metrics() const {
  const bool finite = state_.ssthresh_bytes < std::numeric_limits<int64_t>::max();
  const double packets = static_cast<double>(state_.ssthresh_bytes) / static_cast<double>(packet_bytes_);
  return {{"ssthresh", "packets", finite ? packets : std::numeric_limits<double>::infinity()},
          {"recovery", "", recovery_.active() ? 1.0 : 0.0}};
}

// RFC 5682 does not specify the response. As in Linux, the window is restored after a spurious time-out, and
// after spurious losses as well.
void NewReno::on_spurious_loss(Time /*now*/, const SpuriousLoss& loss) {
  if (recovery_.undone_by(loss.seq)) {
    before_losses_.cwnd_bytes = std::max(before_losses_.cwnd_bytes, state_.cwnd_bytes);
    state_ = before_losses_;
  }
  if (!loss.timeout || !before_timeout_) return;
  std::tie(state_, recovery_) = *std::exchange(before_timeout_, std::nullopt);
}

// RFC 5681 section 3.1 with RFC 3465's byte counting. Not called while the application limits the flow: a
// window that is not used must not grow (RFC 9002 section 7.8).
void NewReno::grow(int64_t acked_bytes) {
  if (state_.cwnd_bytes < state_.ssthresh_bytes) {
    state_.cwnd_bytes += acked_bytes;
    return;
  }
  state_.acked_in_window_bytes += acked_bytes;
  if (state_.acked_in_window_bytes < state_.cwnd_bytes) return;
  state_.acked_in_window_bytes -= state_.cwnd_bytes;
  state_.cwnd_bytes += packet_bytes_;
}

}  // namespace ccgym
