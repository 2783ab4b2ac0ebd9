// The gym at the other end of a Unix socket: it is told of each decision, and answers with an action.
//
// SOCK_SEQPACKET, one record a message, float64 in the host's order. Out: a row of kTelemetry (bytes and
// times of the step that the decision closes; packets waiting at the bottleneck are not known: NaN), then the
// observation. In: the action, one number or two. The flow goes on with its old window until the action
// comes.
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

  // Tells of a decision that is due, once. Throws std::system_error when the gym has gone.
  void report(Time now, const Sender<>& sender);

  // Takes the action that has come; false: the gym has gone.
  [[nodiscard]] bool take_action();

 private:
  FileDescriptor socket_;
  PolicyController policy_;
  std::size_t action_size_;
  StepMeter meter_{};
  bool reported_{false};
};

}  // namespace ccgym
