#include "tunnel/init_process.hh"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>

#include "deploy/endpoint/errors.hh"
#include "deploy/endpoint/file_descriptor.hh"
#include "tunnel/inside.hh"
#include "tunnel/tun_device.hh"

namespace ccgym::tunnel {

namespace {

constexpr std::chrono::seconds kGrace{1};  // between SIGTERM and SIGKILL
constexpr int kCannotRun = 127;            // the exit code of a shell for a command that it cannot run
constexpr int kStopped = 143;              // 128 + SIGTERM, as a shell's

sigset_t child_signal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  return set;
}

[[noreturn]] void execute(const std::vector<std::string>& command) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  std::cerr << "ccgym-tunnel: cannot run " + command[0] + ": " + std::strerror(errno) + "\n";
  _exit(kCannotRun);
}

void set_environment(const PrivateAddresses& addresses) {
  setenv("CCGYM_TUNNEL_LOCAL", to_string(addresses.local).c_str(), 1);
  setenv("CCGYM_TUNNEL_PEER", to_string(addresses.peer).c_str(), 1);
  setenv("MAHIMAHI_BASE", to_string(addresses.peer).c_str(), 0);
}

// Reaps all children that have ended, orphans included. If the command is one of them, ends with its exit
// code.
void reap_children(pid_t command) {
  int status = 0;
  for (pid_t ended = waitpid(-1, &status, WNOHANG); ended > 0; ended = waitpid(-1, &status, WNOHANG))
    if (ended == command) _exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

int ms_until(std::chrono::steady_clock::time_point end) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
  return std::max(0, static_cast<int>(left.count()));
}

// Waits for the end of the command, or until `control` is closed: then SIGTERM to all processes, and after
// kGrace the end of this process, with which the kernel kills the others.
void watch(int control, pid_t command) {
  const sigset_t set = child_signal();
  const FileDescriptor child_signals{
      check_system_call("signalfd", signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK))};
  std::array<pollfd, 2> polled{pollfd{child_signals.number(), POLLIN, 0}, pollfd{control, POLLIN, 0}};
  // Fixed once it is set: a SIGCHLD does not delay it.
  std::optional<std::chrono::steady_clock::time_point> kills_at;
  while (true) {
    poll(polled.data(), polled.size(), kills_at ? ms_until(*kills_at) : -1);
    if (kills_at && std::chrono::steady_clock::now() >= *kills_at) _exit(kStopped);
    if (polled[0].revents != 0) {
      signalfd_siginfo info{};
      static_cast<void>(!read(child_signals.number(), &info, sizeof info));
      reap_children(command);
    }
    if (polled[1].revents != 0) {
      kills_at = std::chrono::steady_clock::now() + kGrace;
      polled[1].fd = -1;
      kill(-1, SIGTERM);
    }
  }
}

void serve(int control, const std::vector<std::string>& command) {
  Settings settings;
  if (read(control, &settings, sizeof settings) != sizeof settings) _exit(kStopped);
  configure_tun(settings.addresses, settings.mtu);
  constexpr std::byte kReady{1};
  check_system_call("tell the outside",
                    static_cast<int>(send(control, &kReady, sizeof kReady, MSG_NOSIGNAL)));
  set_environment(settings.addresses);
  const sigset_t set = child_signal();
  check_system_call("block SIGCHLD", sigprocmask(SIG_BLOCK, &set, nullptr));
  const pid_t started = check_system_call("fork", fork());
  if (started == 0) execute(command);
  watch(control, started);
}

}  // namespace

void run_init(int control, const std::vector<std::string>& command) {
  _exit(run_program("ccgym-tunnel", [&] {
    serve(control, command);
    return 1;
  }));
}

}  // namespace ccgym::tunnel
