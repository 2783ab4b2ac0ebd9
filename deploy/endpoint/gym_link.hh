// The gym at the other end of a Unix socket: it receives each decision that is due, and answers with an
// action.
//
// SOCK_SEQPACKET, one record per message, float64 in the host's byte order. To the gym: a row of kTelemetry
// (bytes and times are of the step that the decision ends; the packets waiting at the bottleneck are unknown:
// NaN), then the observation. From the gym: the action, one number or two. The flow keeps its old window
// until the action arrives.
#pragma once

#include <cstdint>
#include <string>

#include "agents/policy/policy.hh"
#include "deploy/endpoint/file_descriptor.hh"
#include "envs/twin/telemetry.hh"
#include "transport/controller_config.hh"
#include "transport/sender.hh"

namespace ccgym {

class GymLink {
 public:
  // Connects to the socket file `path`; throws std::system_error when nobody listens there.
  GymLink(const std::string& path, const PolicySpec& policy, const ControllerConfig& config);

  [[nodiscard]] PolicyController& policy() { return policy_; }
  [[nodiscard]] int descriptor() const { return socket_.number(); }

  // Reports a decision that is due, once. Throws std::system_error when the gym has gone.
  void report(Time now, const Sender<>& sender);

  // Applies the action that has arrived; false: the gym has gone.
  [[nodiscard]] bool take_action();

 private:
  FileDescriptor socket_;
  PolicyController policy_;
  std::size_t action_size_;
  StepMeter meter_{};
  bool reported_{false};
};

}  // namespace ccgym
