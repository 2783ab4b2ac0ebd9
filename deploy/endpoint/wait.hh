// Sleeping until the socket, the clock or a signal has something.
#pragma once

#include <optional>

#include "deploy/endpoint/file_descriptor.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

// SIGTERM, SIGINT and SIGHUP, from here on read like a file instead of ending the process.
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
  bool stop{};  // a signal asks for the end; it has been taken
  bool other{};
};

inline constexpr int kNoDescriptor = -1;  // poll passes it over

// Until the socket is what one is interested in, a stop signal comes, `other` has something to read or
// `deadline` (steady clock; nullopt: never) is reached; to the nanosecond, as far as the kernel goes.
Readiness wait_for(int socket, Interest interest, StopSignals& stop, std::optional<Time> deadline,
                   int other = kNoDescriptor);

}  // namespace ccgym
