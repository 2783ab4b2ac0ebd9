// Sleeps until the socket is ready, a deadline passes or a signal arrives.
#pragma once

#include <ctime>
#include <optional>

#include "deploy/endpoint/file_descriptor.hh"
#include "transport/units.hh"

namespace ccgym {

// SIGTERM, SIGINT and SIGHUP. Once it is constructed, they no longer end the process, but are read from a
// descriptor.
class StopSignals {
 public:
  StopSignals();

  [[nodiscard]] int descriptor() const { return signals_.number(); }
  void take();  // removes a pending signal

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
  bool stop{};   // a stop signal has arrived, and has been taken
  bool other{};  // `other` has something to read
};

inline constexpr int kNoDescriptor = -1;  // ignored by poll

// A time-out of ppoll; 0 if `duration` is negative.
timespec to_timespec(Time duration);

// Sleeps until the socket is ready as `interest` says, a stop signal arrives, `other` has something to read,
// or `deadline` (steady clock; nullopt: none) is reached, with the resolution of ppoll, one nanosecond.
Readiness wait_for(int socket, Interest interest, StopSignals& stop, std::optional<Time> deadline,
                   int other = kNoDescriptor);

}  // namespace ccgym
