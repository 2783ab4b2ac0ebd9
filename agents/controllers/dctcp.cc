#include "agents/controllers/dctcp.hh"

#include <algorithm>

namespace ccgym {

namespace {

constexpr double kGain = 1.0 / 16;  // section 4.2: g

}  // namespace

// Section 3.3: the window falls by the factor 1 - alpha / 2, at most once in a round trip, as in RFC 3168.
void Dctcp::on_ack(Time now, const AckEvent& ack) {
  if (!ack.acked.empty()) update_alpha(ack);
  inner().set_mark_beta(1 - alpha_ / 2);
  inner().on_ack(now, ack);
}

// Section 3.3: once in a window of data, alpha = (1 - g) alpha + g M, where M is the fraction of marked
// packets.
void Dctcp::update_alpha(const AckEvent& ack) {
  acked_packets_ += std::ssize(ack.acked);
  marked_packets_ += ack.ce_packets;
  if (ack.newest().seq < window_ends_at_seq_) return;
  const double marked_fraction = static_cast<double>(marked_packets_) / static_cast<double>(acked_packets_);
  alpha_ += kGain * (std::min(marked_fraction, 1.0) - alpha_);
  acked_packets_ = marked_packets_ = 0;
  window_ends_at_seq_ = ack.next_seq;
}

std::vector<Metric> Dctcp::metrics() const {
  std::vector<Metric> metrics = inner().metrics();
  metrics.push_back({"alpha", "", alpha_});
  return metrics;
}

}  // namespace ccgym
