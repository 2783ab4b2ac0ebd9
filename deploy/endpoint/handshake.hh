// How a flow begins and ends: hello until the receiver answers, bye until it answers or has gone.
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
  refused,  // the receiver takes no flow of ours: it has another flow, or another secret
  silence,
  stopped,
};

Answer say_hello(const FileDescriptor& socket, uint64_t flow, const std::optional<SipKey>& secret,
                 StopSignals& stop);

// Best effort: over within 0.6 s, or at once at a further signal. A receiver that misses the bye notices the
// silence.
void say_bye(const FileDescriptor& socket, uint64_t flow, StopSignals& stop);

}  // namespace ccgym
