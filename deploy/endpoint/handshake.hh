// The beginning and the end of a flow: hellos until the receiver replies, byes until it replies or is gone.
#pragma once

#include <cstdint>
#include <optional>

#include "deploy/endpoint/file_descriptor.hh"
#include "deploy/endpoint/wait.hh"
#include "transport/siphash.hh"

namespace ccgym {

inline constexpr int kHelloTries = 10;
inline constexpr Time kHelloInterval = std::chrono::seconds{1};

enum class Answer {
  accepted,
  refused,  // the receiver replies, but does not accept the flow: it has another one, or another secret
  silence,  // no reply to kHelloTries hellos
  stopped,  // by a stop signal
};

Answer say_hello(const FileDescriptor& socket, uint64_t flow, const std::optional<SipKey>& secret,
                 StopSignals& stop);

// Best effort, for at most 0.6 s or until a stop signal: a receiver that misses the bye ends the flow after a
// time of silence.
void say_bye(const FileDescriptor& socket, uint64_t flow, StopSignals& stop);

}  // namespace ccgym
