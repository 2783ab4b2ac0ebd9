#include "my_controller.hh"

#include <algorithm>

void MyController::on_ack(ccgym::Time now, const ccgym::AckEvent& ack) {
  const bool congested = !ack.lost.empty() || ack.ce_packets > 0;
  if (congested && now >= reduced_at_ + ack.rtt.smoothed) {  // once in a round trip
    cwnd_packets_ = std::max(2.0, 0.7 * cwnd_packets_);
    reduced_at_ = now;
  }
  cwnd_packets_ += static_cast<double>(ack.acked.size()) / cwnd_packets_;
}

void MyController::on_timeout(ccgym::Time /*now*/, const ccgym::Timeout& /*timeout*/) { cwnd_packets_ = 2; }
