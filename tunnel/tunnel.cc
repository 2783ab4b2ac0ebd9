// ccgym-tunnel: a path between two network namespaces over one UDP flow, with a log of its packets.
#include <net/if.h>
#include <signal.h>
#include <sodium.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>

#include "deploy/endpoint/clock.hh"
#include "deploy/endpoint/errors.hh"
#include "deploy/endpoint/udp_socket.hh"
#include "deploy/endpoint/wait.hh"
#include "tunnel/announcements.hh"
#include "tunnel/connection.hh"
#include "tunnel/log_format.hh"
#include "tunnel/options.hh"
#include "tunnel/packet_device.hh"
#include "tunnel/packet_log.hh"
#include "tunnel/privileges.hh"
#include "tunnel/pump.hh"

namespace ccgym::tunnel {

namespace {

constexpr std::string_view kName = "ccgym-tunnel";

constexpr std::string_view kHelp =
    R"(usage: ccgym-tunnel secret FILE
       ccgym-tunnel server --secret-file FILE [OPTIONS] [-- COMMAND ...]
       ccgym-tunnel client --secret-file FILE [OPTIONS] SERVER_ADDRESS SERVER_PORT [-- COMMAND ...]

Two ends make a private path over one UDP flow. Each has a network namespace of its own, in which it runs
COMMAND (default: $SHELL, which reads stdin) once the two are connected; all that COMMAND sends there
reaches the other end. COMMAND finds both private addresses in CCGYM_TUNNEL_LOCAL and CCGYM_TUNNEL_PEER.

  secret FILE         make a session secret, mode 0600; hand a copy to the other end
  --secret-file FILE  the session secret: 32 bytes or more that only the two ends know
  --compatible        instead: pantheon-tunnel's protocol and output, without authentication. The client's
                      arguments are then SERVER_ADDRESS SERVER_PORT LOCAL_PRIVATE_ADDRESS
                      SERVER_PRIVATE_ADDRESS. Called as mm-tunnelserver or mm-tunnelclient, it stands in
                      for them
  --bind ADDRESS      receive at this address of this machine only (default: all)
  --port N            UDP port (default, or 0: any free one)
  --interface IF      send and receive by this interface only; its MTU is the path's
  --mtu BYTES         MTU of the path, 576 to 9000 (default: the interface's, else 1500)
  --local ADDRESS, --peer ADDRESS
                      server: the private addresses of its end and the client's (default: the first two
                      unused ones from 100.64.0.1 on)
  --ingress-log FILE, --egress-log FILE
                      log every packet received, sent: milliseconds since the time in the first line, UID,
                      bytes on the path with all headers
  --offload           TCP leaves and enters this end's namespace in frames of up to 64 KB: several times the
                      speed, but no longer the bursts that the sender would send. The datagrams are the same,
                      the other end may do as it likes
  --help, --version

The server prints `port N local ADDRESS peer ADDRESS` when it listens, and both ends print
`connected ADDRESS:PORT local ADDRESS peer ADDRESS device KIND` when they are. KIND is how this end moves the
packets of its namespace: io_uring (many per system call), plain (one: the kernel cannot, or forbids it) or
offload. The last line, on stderr, counts packets and names KIND.

Overhead: 36 bytes per packet over IPv4, 56 over IPv6, authenticated or not; the MTU inside is 1464 of 1500.
(UDP and IP headers 28 or 48, UID 4 and MAC 16; of the inner IP header, 12 bytes both ends know are left
out. Compatible: UID 8.)

A silent end sends a keep-alive each second. An end that hears nothing for 5 seconds ends.

Exit codes: COMMAND's; 0 after SIGTERM, SIGINT or SIGHUP, or when the other end was ended; 1 failure;
2 bad usage or input.
)";

std::optional<FileDescriptor> create_log(const std::optional<std::string>& file) {
  return file ? std::optional{create_log_file(*file)} : std::nullopt;
}

FileDescriptor open_socket(const Options& options) {
  FileDescriptor socket = bind_udp(options.bind ? *options.bind : any_address(options.port));
  if (options.interface)
    check_system_call("bind to the interface", setsockopt(socket.number(), SOL_SOCKET, SO_BINDTODEVICE,
                                                          options.interface->c_str(), IFNAMSIZ - 1));
  return socket;
}

uint16_t port_of(const FileDescriptor& socket) {
  sockaddr_storage address{};
  socklen_t bytes = sizeof address;
  check_system_call("getsockname",
                    getsockname(socket.number(), reinterpret_cast<sockaddr*>(&address), &bytes));
  return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);  // at the same offset for IPv6
}

// One end of the tunnel, from its options to its exit code.
class End {
 public:
  End(const Options& options, std::span<char* const> command_line)
      : options_(options), command_line_(command_line) {}

  int run() {
    if (options_.secret_file) secret_ = read_secret(*options_.secret_file);
    auto ingress_file = create_log(options_.ingress_log);
    auto egress_file = create_log(options_.egress_log);
    if (options_.role == Role::server) choose_addresses();
    StopSignals stop;
    const FileDescriptor socket = open_socket(options_);
    Inside inside{options_.command, options_.offload};
    signal(SIGPIPE, SIG_IGN);
    drop_privileges();

    announce_listening(options_, port_of(socket));
    std::optional<Connection> connection = connect_ends(socket, stop);
    if (!connection) return 0;
    const auto device =
        open_device(inside.tun(), options_.offload, static_cast<std::size_t>(connection->settings.mtu));
    announce_connected(options_, *connection, device->kind());
    inside.start(connection->settings);

    auto ingress = start_log(std::move(ingress_file), "ingress", options_.ingress_log);
    auto egress = start_log(std::move(egress_file), "egress", options_.egress_log);
    Pump pump{socket, inside, *device, *connection, {ingress.get(), egress.get(), zero_}, stop};
    const int code = conclude(pump.run(), inside);
    for (PacketLog* log : {ingress.get(), egress.get()})
      if (const std::string failure = log == nullptr ? "" : log->finish(); !failure.empty()) say(failure);
    say(reason_ + ": " + pump.counts().to_string() + "; device " + std::string{device->kind()});
    return code;
  }

 private:
  void choose_addresses() {
    if (options_.addresses)
      check_unused(*options_.addresses);
    else
      options_.addresses = unused_addresses();
  }

  std::optional<Connection> connect_ends(const FileDescriptor& socket, StopSignals& stop) {
    const bool serves = options_.role == Role::server;
    if (secret_ && serves)
      return connect(socket, AuthenticatedServer{*secret_, *options_.addresses, options_.outer_mtu}, stop);
    if (secret_) return connect(socket, AuthenticatedClient{*secret_, *options_.server}, stop);
    if (serves) return connect(socket, CompatibleServer{*options_.addresses, options_.outer_mtu}, stop);
    return connect(socket, CompatibleClient{*options_.server, *options_.addresses, options_.outer_mtu}, stop);
  }

  std::unique_ptr<PacketLog> start_log(std::optional<FileDescriptor> file, std::string_view direction,
                                       const std::optional<std::string>& name) const {
    if (!file) return nullptr;
    return std::make_unique<PacketLog>(*name, std::move(*file),
                                       log_head(command_line_, direction, wall_clock_at_zero_));
  }

  int conclude(Ending ending, Inside& inside) {
    constexpr int kGraceMs = 500;  // so that a command that is about to end gives its own exit code
    if (ending == Ending::peer_said_bye && inside.ends_within(kGraceMs)) ending = Ending::command_ended;
    const int command_code = inside.exit_code();
    switch (ending) {
      case Ending::command_ended:
        reason_ = "the command ended with code " + std::to_string(command_code);
        return command_code;
      case Ending::stopped:
        reason_ = "ended by a signal";
        return 0;
      case Ending::peer_said_bye:
        reason_ = "ended by the other end";
        return 0;
      case Ending::peer_fell_silent:
        reason_ = "the other end fell silent: it was killed, or the path is cut";
        return 1;
      case Ending::device_gone:
        reason_ = "the command took the TUN device away";
        return 1;
    }
    return 1;
  }

  static void say(const std::string& line) { std::cerr << std::string{kName} + ": " + line + "\n"; }

  Options options_;
  std::span<char* const> command_line_;
  std::optional<Key> secret_{};
  std::string reason_{};
  // Time 0 of the logs. After this only the steady clock is read, so that a step of the wall clock causes no
  // gap.
  Time zero_{monotonic_now()};
  Time wall_clock_at_zero_{realtime_now()};
};

int make_secret_file(std::span<char* const> arguments) {
  if (arguments.size() != 1) throw InputError{"one FILE would be right: see --help"};
  make_secret(arguments[0]);
  return 0;
}

bool asks_for(std::span<char* const> arguments, std::string_view option) {
  const auto before_command = std::ranges::find(arguments, std::string_view{"--"});
  return std::find(arguments.begin(), before_command, option) != before_command;
}

int run(std::span<char* const> command_line) {
  refuse_setuid();
  if (sodium_init() < 0) throw std::runtime_error{"libsodium does not start"};
  const std::string called_as = std::filesystem::path{command_line[0]}.filename();
  const auto run_end = [&](Role role, bool compatible, std::size_t skip) {
    return End{parse_options(role, compatible, command_line.subspan(skip)), command_line}.run();
  };
  if (called_as == "mm-tunnelserver") return run_end(Role::server, true, 1);
  if (called_as == "mm-tunnelclient") return run_end(Role::client, true, 1);
  if (asks_for(command_line, "--help")) std::cout << kHelp;
  if (asks_for(command_line, "--version")) std::cout << kName << " " CCGYM_VERSION "\n";
  if (asks_for(command_line, "--help") || asks_for(command_line, "--version")) return 0;
  const std::string_view verb = command_line.size() > 1 ? command_line[1] : "";
  if (verb == "server") return run_end(Role::server, false, 2);
  if (verb == "client") return run_end(Role::client, false, 2);
  if (verb == "secret") return make_secret_file(command_line.subspan(2));
  throw InputError{"server, client or secret would be right: see --help"};
}

}  // namespace

}  // namespace ccgym::tunnel

int main(int argc, char* argv[]) {
  return ccgym::run_program("ccgym-tunnel",
                            [&] { return ccgym::tunnel::run({argv, static_cast<std::size_t>(argc)}); });
}
