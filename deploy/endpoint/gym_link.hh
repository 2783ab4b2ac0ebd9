// The connection to a gym at the other end of a Unix socket, which chooses the actions: it receives an
// observation for each decision that is due, and replies with an action.
//
// The socket is SOCK_SEQPACKET, with one record per message, of float64 in the host's byte order. To the gym:
// a row of kTelemetry (bytes and times are those of the step before the decision; queue_packets is NaN,
// because it is unknown), then the observation. From the gym: the action, one or two numbers. The window does
// not change until the action arrives.
#pragma once

#include <string>

#include "agents/policy/policy.hh"
#include "deploy/endpoint/file_descriptor.hh"
#include "envs/twin/telemetry.hh"
#include "transport/controller_config.hh"
#include "transport/sender.hh"

namespace ccgym {

class GymLink {
 public:
  // Connects to the socket file `path`. Throws std::system_error if nobody listens there, and InputError if
  // the path is too long.
  GymLink(const std::string& path, const PolicySpec& policy, const ControllerConfig& config);

  [[nodiscard]] PolicyController& policy() { return policy_; }
  [[nodiscard]] int descriptor() const { return socket_.number(); }

  // Sends the observation if a decision is due for which it has not been sent. Throws std::system_error if
  // the gym has closed the socket.
  void report(Time now, const Sender<>& sender);

  // Receives an action and applies it. Returns false if the gym has closed the socket, or has sent anything
  // else.
  [[nodiscard]] bool take_action();

 private:
  FileDescriptor socket_;
  PolicyController policy_;
  std::size_t action_size_;
  StepMeter meter_{};
  bool reported_{false};
};

}  // namespace ccgym
