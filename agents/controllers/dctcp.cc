#include "agents/controllers/dctcp.hh"

#include <algorithm>

namespace ccgym {

namespace {

constexpr double kGain = 1.0 / 16;  // section 4.2: g

}  // namespace

// Section 3.3: the share of marks decides how far the window falls; when it falls is as in RFC 3168.
void Dctcp::on_ack(Time now, const AckEvent& ack) {
  if (!ack.acked.empty()) observe(ack);
  inner().keep_on_marks(1 - alpha_ / 2);
  inner().on_ack(now, ack);
}

// Section 3.3: updates alpha once for each window of data.
void Dctcp::observe(const AckEvent& ack) {
  acked_packets_ += std::ssize(ack.acked);
  marked_packets_ += ack.ce_packets;
  if (ack.newest().seq < window_ends_at_seq_) return;
  const double share = static_cast<double>(marked_packets_) / static_cast<double>(acked_packets_);
  alpha_ += kGain * (std::min(share, 1.0) - alpha_);
  acked_packets_ = marked_packets_ = 0;
  window_ends_at_seq_ = ack.next_seq;
}

std::vector<Metric> Dctcp::metrics() const {
  std::vector<Metric> metrics = inner().metrics();
  metrics.push_back({"alpha", "", alpha_});
  return metrics;
}

}  // namespace ccgym
