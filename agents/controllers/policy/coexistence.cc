#include "agents/controllers/policy/coexistence.hh"

#include <chrono>
#include <cmath>

namespace ccgym {

namespace {

constexpr double kOwnPackets = 2;  // kept in the queue at 1 packet per ms; as the root of the rate

}  // namespace

bool Coexistence::on_ack(Time now, const RttStats& rtt, double cwnd_packets) {
  const bool was_limiting = drain_.limiting();
  if (const auto drained = drain_.on_ack(now, rtt, cwnd_packets)) contest_.on_drained(*drained);
  return drain_.limiting() != was_limiting;
}

double Coexistence::window(Time now, const RttStats& rtt, double cwnd_packets, double wanted_packets) {
  if (rtt.smoothed == Time::zero()) return wanted_packets;
  if (drain_.on()) return cwnd_packets;  // what it has seen was the drain itself
  const double smoothed_rtt_ms = std::chrono::duration<double, std::milli>(rtt.smoothed).count();
  const double own_packets = kOwnPackets * std::sqrt(cwnd_packets / smoothed_rtt_ms);
  return contest_.window(now, rtt.smoothed, wanted_packets + own_packets);
}

}  // namespace ccgym
