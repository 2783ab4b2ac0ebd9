// Telemetry: measurements of one flow's step for the gym.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "agents/policy/policy.hh"
#include "envs/twin/packet_sizes.hh"
#include "transport/sender.hh"

namespace ccgym {

// Columns of the telemetry of one step, in this order; bytes are those of IP packets.
inline constexpr std::array<std::string_view, 12> kTelemetry{
    "time_ms",          // since the flow began, at the decision
    "step_ms",          // length of the step
    "cwnd_packets",     // window before the coming action
    "delivered_bytes",  // acknowledged during the step
    "lost_bytes",       // declared lost during the step, less spurious losses
    "sent_bytes",       // sent during the step
    "mean_rtt_ms",      // of the step's ACKs; 0 when there were none
    "min_rtt_ms",       // of the flow
    "queue_packets",    // waiting at the uplink now, of all flows
    "max_rtt_ms",       // of the step's ACKs
    "throughput_mbps",  // delivered in the step's length
    "loss",             // share lost of what was delivered or lost
};

// Measures the steps of one flow, each from one decision to the next.
class StepMeter {
 public:
  template <class Controller>
  void measure(Time flow_time, const Sender<Controller>& sender, const PolicyController& policy,
               std::size_t queued_packets, std::span<double> row) {
    const Totals now{flow_time, sender.delivered_packets(), sender.lost_packets(), sender.sent_packets()};
    const StepRtt rtt = policy.step_rtt();
    const double step_ms = in_ms(now.time - last_.time);
    const double delivered_bytes = ip_bytes(now.delivered_packets - last_.delivered_packets);
    const double lost_bytes = ip_bytes(now.lost_packets - last_.lost_packets);
    const std::array<double, kTelemetry.size()> values{
        in_ms(now.time),
        step_ms,
        policy.cwnd_packets(),
        delivered_bytes,
        lost_bytes,
        ip_bytes(now.sent_packets - last_.sent_packets),
        rtt.mean_ms,
        in_ms(sender.rtt().min),
        static_cast<double>(queued_packets),
        rtt.max_ms,
        throughput_mbps(delivered_bytes, step_ms),
        loss(delivered_bytes, std::max(lost_bytes, 0.0)),  // below 0: more spurious losses than losses
    };
    std::ranges::copy(values, row.begin());
    last_ = now;
  }

 private:
  struct Totals {
    Time time{};
    int64_t delivered_packets{};
    int64_t lost_packets{};
    int64_t sent_packets{};
  };

  static double ip_bytes(int64_t packets) {
    return static_cast<double>(packets * (kDataTunBytes - kTunHeaderBytes));
  }
  static double throughput_mbps(double delivered_bytes, double step_ms) {
    constexpr double kMinMs = 1e-6;
    return 0.008 * delivered_bytes / std::max(step_ms, kMinMs);
  }
  static double loss(double delivered_bytes, double lost_bytes) {
    return lost_bytes / std::max(delivered_bytes + lost_bytes, 1.0);
  }

  Totals last_{};
};

}  // namespace ccgym
