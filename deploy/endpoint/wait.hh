// Sleeps until the socket is ready, a deadline passes or a signal arrives.
#pragma once

#include <optional>

#include "deploy/endpoint/file_descriptor.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

// SIGTERM, SIGINT and SIGHUP: from its construction on they are read like a file and do not end the process.
class StopSignals {
 public:
  StopSignals();

  [[nodiscard]] int descriptor() const { return signals_.number(); }
  void take();  // the one that waits

 private:
  FileDescriptor signals_;
};

struct Interest {
  bool readable{};
  bool writable{};
};

struct Readiness {
  bool readable{};
  bool writable{};
  bool stop{};  // a stop signal has arrived and was taken
  bool other{};
};

inline constexpr int kNoDescriptor = -1;  // ignored by poll

// Sleeps until the socket is ready for what the caller is interested in, a stop signal arrives, `other` has
// something to read, or `deadline` (steady clock; nullopt: never) is reached; to the nanosecond, as far as
// the kernel allows.
Readiness wait_for(int socket, Interest interest, StopSignals& stop, std::optional<Time> deadline,
                   int other = kNoDescriptor);

}  // namespace ccgym
