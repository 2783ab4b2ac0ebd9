// The inside of the tunnel: a network namespace with the TUN device, and in it, in a process namespace of its
// own, the user's command. However this program ends, SIGKILL included, nothing of the inside remains.
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
  // Moves this process into the new network namespace; sockets opened before stay in the old one. The
  // command, by default $SHELL reading stdin, waits for start(). Without the right to make a namespace, a
  // user namespace is made first; throws InputError if that is forbidden, too. Call it before any thread is
  // started. `offload`: see open_tun().
  Inside(std::vector<std::string> command, bool offload);
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside();  // ends processes that still run: SIGTERM, a second later SIGKILL

  // Returns when the device takes packets; then the command starts.
  void start(const Settings& settings);

  [[nodiscard]] int tun() const { return tun_.number(); }
  [[nodiscard]] int process() const { return process_.number(); }  // readable once the command has ended

  // Whether the command ends by itself within that time.
  [[nodiscard]] bool ends_within(int timeout_ms) const;

  // Ends the command if it still runs; returns its exit code, or 128 + N if signal N ended it.
  int exit_code();

 private:
  FileDescriptor tun_;
  FileDescriptor control_;  // closed: the inside ends
  pid_t init_;
  FileDescriptor process_;
  std::optional<int> exit_code_{};
};

}  // namespace ccgym::tunnel
