// Holds its own against flows that fill every queue (Copa, Arun and Balakrishnan, NSDI 2018, section 2.2).
//
// Flows of our kind drain the queue together. When a long one stays although we drained, and although we have
// given way, somebody fills it; then the window does not fall below that of additive increase (NewReno's) and
// multiplicative decrease, until a drain empties the queue again, or a larger window has gained nothing.
#pragma once

#include "agents/policy/base_rtt_probe.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

class CompetitiveMode {
 public:
  void on_probe_result(const ProbeResult& drained);  // of a drain of ours
  void on_loss(Time now, std::span<const LostPacket> lost);

  // The window where the network wants `wanted_packets`.
  [[nodiscard]] double window(Time now, Time smoothed_rtt, double wanted_packets);
  [[nodiscard]] bool on() const { return on_; }

 private:
  void enter(const ProbeResult& drained);
  [[nodiscard]] bool is_alone(Time smoothed_rtt) const;

  bool on_{false};
  int failed_drains_{0};
  double previous_cwnd_packets_{0};  // at the last drain
  double cwnd_packets_{0};           // of increase and decrease
  double entry_cwnd_packets_{0};
  double entry_packets_per_ms_{0};
  Time decided_at_{};
  Time backed_off_at_{};
};

}  // namespace ccgym
