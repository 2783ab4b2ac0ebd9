#include "tunnel/inside.hh"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "deploy/endpoint/errors.hh"
#include "tunnel/init_process.hh"
#include "tunnel/tun_device.hh"

namespace ccgym::tunnel {

namespace {

// The user keeps uid and gid, and has all capabilities within the new user namespace.
void map_user(uid_t user, gid_t group) {
  std::ofstream{"/proc/self/setgroups"} << "deny";
  std::ofstream{"/proc/self/uid_map"} << user << " " << user << " 1";
  std::ofstream{"/proc/self/gid_map"} << group << " " << group << " 1";
}

void enter_namespace() {
  if (unshare(CLONE_NEWNET) == 0) return;
  const uid_t user = geteuid();
  const gid_t group = getegid();
  if (errno == EPERM && unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0) return map_user(user, group);
  throw InputError{
      "may not make a network namespace: run as root or with CAP_NET_ADMIN and CAP_SYS_ADMIN, or allow user "
      "namespaces: sudo sysctl -w user.max_user_namespaces=1000"};
}

FileDescriptor enter_and_open_tun(bool offload) {
  enter_namespace();
  return open_tun(offload);
}

std::array<FileDescriptor, 2> open_socket_pair() {
  std::array<int, 2> ends{};
  check_system_call("socketpair", socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()));
  return {FileDescriptor{ends[0]}, FileDescriptor{ends[1]}};
}

std::vector<std::string> or_shell(std::vector<std::string> command) {
  if (!command.empty()) return command;
  const char* shell = getenv("SHELL");
  return {shell != nullptr && *shell != '\0' ? shell : "/bin/sh"};
}

// Starts the init process by the system call clone, which is like fork, but into a new process namespace.
// That is safe as long as there is no other thread.
pid_t start_init(FileDescriptor& control, const std::vector<std::string>& command) {
  auto [inner, outer] = open_socket_pair();
  const auto child =
      static_cast<pid_t>(syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  check_system_call("start a process in a namespace of its own", child);
  if (child == 0) {
    const int kept = check_system_call("keep the socket", dup2(inner.number(), STDERR_FILENO + 1));
    check_system_call("keep the socket from the command", fcntl(kept, F_SETFD, FD_CLOEXEC));
    close_range(static_cast<unsigned>(kept) + 1, ~0U, 0);  // the TUN device and the UDP socket
    run_init(kept, command);
  }
  control = std::move(outer);
  return child;
}

}  // namespace

Inside::Inside(std::vector<std::string> command, bool offload)
    : tun_(enter_and_open_tun(offload)),
      control_(-1),
      init_(start_init(control_, or_shell(std::move(command)))),
      process_(check_system_call("pidfd_open", static_cast<int>(syscall(SYS_pidfd_open, init_, 0)))) {}

Inside::~Inside() { exit_code(); }

void Inside::start(const Settings& settings) {
  check_system_call("tell the inside its addresses",
                    static_cast<int>(send(control_.number(), &settings, sizeof settings, MSG_NOSIGNAL)));
  // Waits for the byte that tells that the device is up: the peer may send at once, and a device that is down
  // drops packets. If the init process fails, recv returns 0, and the caller sees that the command has ended.
  std::byte ready{};
  static_cast<void>(!recv(control_.number(), &ready, sizeof ready, 0));
}

bool Inside::ends_within(int timeout_ms) const {
  pollfd polled{process(), POLLIN, 0};
  return poll(&polled, 1, timeout_ms) == 1;
}

int Inside::exit_code() {
  if (exit_code_) return *exit_code_;
  {
    const FileDescriptor closed = std::move(control_);
  }
  int status = 0;
  while (waitpid(init_, &status, 0) < 0 && errno == EINTR) {
  }
  exit_code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return *exit_code_;
}

}  // namespace ccgym::tunnel
