#include "deploy/endpoint/wait.hh"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "deploy/endpoint/clock.hh"
#include "deploy/endpoint/errors.hh"

namespace ccgym {

namespace {

sigset_t stop_set() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  return set;
}

FileDescriptor open_signals() {
  const sigset_t set = stop_set();
  check_system_call("block signals", sigprocmask(SIG_BLOCK, &set, nullptr));
  return FileDescriptor{check_system_call("signalfd", signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK))};
}

short events_of(Interest interest) {
  return static_cast<short>((interest.readable ? POLLIN : 0) | (interest.writable ? POLLOUT : 0));
}

}  // namespace

timespec to_timespec(Time duration) {
  const Time left = std::max(duration, Time::zero());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
  return {seconds.count(), (left - seconds).count()};
}

StopSignals::StopSignals() : signals_(open_signals()) {
  // With the default timer slack a sleep may end 50 us late, while a packet takes 12 us at 1 Gbit/s.
  check_system_call("set the timer slack", prctl(PR_SET_TIMERSLACK, 1));
}

void StopSignals::take() {
  signalfd_siginfo signal{};
  check_system_call("read a signal", static_cast<int>(read(descriptor(), &signal, sizeof signal)));
}

Readiness wait_for(int socket, Interest interest, StopSignals& stop, std::optional<Time> deadline,
                   int other) {
  std::array polled{pollfd{socket, events_of(interest), 0}, pollfd{stop.descriptor(), POLLIN, 0},
                    pollfd{other, POLLIN, 0}};
  const timespec left = to_timespec(deadline.value_or(Time::zero()) - monotonic_now());
  const int count = ppoll(polled.data(), polled.size(), deadline ? &left : nullptr, nullptr);
  if (count < 0 && errno != EINTR) check_system_call("ppoll", count);
  if (count <= 0) return {};
  const bool stopped = polled[1].revents != 0;
  if (stopped) stop.take();
  const auto events = static_cast<unsigned>(polled[0].revents);
  // POLLERR, a pending network error, counts as readable, because reading clears it.
  return {(events & (POLLIN | POLLERR)) != 0, (events & POLLOUT) != 0, stopped, polled[2].revents != 0};
}

}  // namespace ccgym
