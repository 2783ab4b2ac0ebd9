// The inside of the tunnel: a network namespace with the TUN device, in which the user's command runs in a
// process namespace of its own. Both disappear with this program, even if it is ended by SIGKILL.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "deploy/endpoint/file_descriptor.hh"
#include "tunnel/private_addresses.hh"

namespace ccgym::tunnel {

struct Settings {
  PrivateAddresses addresses{};
  int mtu{};
};

class Inside {
 public:
  // Moves this process into the new network namespace; sockets that were opened before stay in the old one.
  // `command`, by default $SHELL reading stdin, is not started before start(). A caller without the right to
  // make a network namespace gets a user namespace as well; throws InputError if that is forbidden, too. Call
  // it before any thread is started. `offload`: see open_tun().
  Inside(std::vector<std::string> command, bool offload);
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside();  // ends processes that still run: SIGTERM, a second later SIGKILL

  // Configures the device and starts the command; returns once the device is up.
  void start(const Settings& settings);

  [[nodiscard]] int tun() const { return tun_.number(); }
  [[nodiscard]] int process() const { return process_.number(); }  // readable once the command has ended

  // Waits up to `timeout_ms` for the command to end by itself; returns whether it has ended.
  [[nodiscard]] bool ends_within(int timeout_ms) const;

  // Ends the command if it still runs; returns its exit code, or 128 + N if signal N ended it.
  int exit_code();

 private:
  FileDescriptor tun_;
  FileDescriptor control_;  // socket to the init process, which ends the inside when it is closed
  pid_t init_;
  FileDescriptor process_;
  std::optional<int> exit_code_{};
};

}  // namespace ccgym::tunnel
