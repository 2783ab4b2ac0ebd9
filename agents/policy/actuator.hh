// The third part of a policy: turns an action into the window and the pacing rate of the sender.
//
// One class per kind of action. In all of them a window is a number of packets in flight, which is rounded up
// to whole packets, as in Indigo.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "agents/policy/action_sets.hh"
#include "agents/policy/own_state.hh"
#include "agents/policy/policy_spec.hh"
#include "transport/congestion_controller.hh"
#include "transport/controller_config.hh"

namespace ccgym {

class Actuator {
 public:
  Actuator(const PolicySpec& spec, int64_t packet_bytes);
  Actuator(const Actuator&) = default;
  Actuator& operator=(const Actuator&) = delete;
  virtual ~Actuator() = default;
  [[nodiscard]] virtual std::unique_ptr<Actuator> clone() const = 0;

  // Carries out an action. Returns the action that has the same effect, which differs from `act` if the
  // companion or the limits of the window have changed it. Throws std::invalid_argument for an invalid
  // action.
  float act(Time now, Act act);
  void set_cwnd(double cwnd_packets);          // kept within the policy's limits
  void on_ack(Time now, const AckEvent& ack);  // at least one packet is acknowledged
  virtual void on_loss(Time /*now*/, std::span<const LostPacket> /*lost*/, int64_t /*inflight_bytes*/) {}

  [[nodiscard]] double cwnd_packets() const { return cwnd_packets_; }
  [[nodiscard]] virtual OwnState own_state() const { return {.cwnd_packets = cwnd_packets_}; }
  [[nodiscard]] virtual std::vector<Metric> metrics() const { return {}; }
  [[nodiscard]] const SendLimits& limits() const { return limits_; }

 protected:
  // The window in packets that is set for an action that requests `requested_packets`.
  virtual double applied_window(Time /*now*/, Act /*act*/, double requested_packets) {
    return requested_packets;
  }
  [[nodiscard]] virtual SendLimits compute_limits() const { return {.cwnd_bytes = bytes_of(cwnd_packets_)}; }

  // Keeps what later actions need of an ACK: an action comes between two calls of the driver, without an
  // event.
  virtual void take_ack(Time /*now*/, const AckEvent& /*ack*/) {}

  void update_limits() { limits_ = compute_limits(); }
  [[nodiscard]] int64_t bytes_of(double packets) const {
    return static_cast<int64_t>(std::ceil(packets)) * packet_bytes_;
  }
  [[nodiscard]] int64_t packet_bytes() const { return packet_bytes_; }

 private:
  ActionSet actions_;
  int64_t packet_bytes_;
  double min_cwnd_packets_;
  double max_cwnd_packets_;
  double cwnd_packets_;
  bool application_limited_{false};
  SendLimits limits_{};
};

std::unique_ptr<Actuator> make_actuator(const PolicySpec& spec, const ControllerConfig& config);

}  // namespace ccgym
