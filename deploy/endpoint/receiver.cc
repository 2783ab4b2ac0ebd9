// ccgym-receiver: acknowledges every packet, one flow after the other.
#include <algorithm>
#include <iostream>
#include <optional>

#include "deploy/endpoint/clock.hh"
#include "deploy/endpoint/command_line.hh"
#include "deploy/endpoint/datagram_batch.hh"
#include "deploy/endpoint/errors.hh"
#include "deploy/endpoint/random_bits.hh"
#include "deploy/endpoint/secret_file.hh"
#include "deploy/endpoint/udp_socket.hh"
#include "deploy/endpoint/wait.hh"
#include "transport/receiver.hh"

namespace ccgym {

namespace {

constexpr std::string_view kHelp =
    R"(usage: ccgym-receiver PORT [--bind IP] [--once] [--secret FILE]

Listens at UDP PORT (1 to 65535) for ccgym-sender and acknowledges every packet at once. One flow at
a time; it gives way to another sender after 5 seconds without a word, and is forgotten at its bye.
Runs until SIGTERM, SIGINT or SIGHUP.

  --bind IP        listen at this local address only (default: every one, IPv4 and IPv6)
  --once           end with the first flow: at its bye, or 60 seconds after its last word (exit 1)
  --secret FILE    take flows only of senders with the same secret: 32 to 4096 bytes that only their
                   owner may read
  --version, --help

Exit codes: 0 done, 1 failure, 2 bad usage or input.
)";

// Longer than any published test: a sender that has been silent for so long does not continue.
constexpr Time kSilenceLimit = std::chrono::seconds{60};

// The socket and the core of a receiver, and the loop that connects them.
class ReceiverLoop {
 public:
  ReceiverLoop(const Address& local, const ReceiverKeys& keys, bool once)
      : socket_(listen_udp(local)), once_(once), receiver_(keys) {}

  // Runs until the stop signal or, with `once`, the end of the first flow; returns the exit code.
  int run() {
    while (!once_ || receiver_.ended_flows() == 0) {
      const auto silence_at = once_ && receiver_.in_flow()
                                  ? std::optional{receiver_.last_received() + kSilenceLimit}
                                  : std::nullopt;
      const Readiness ready = wait_for(
          socket_.number(), {.readable = replies_.empty(), .writable = !replies_.empty()}, stop_, silence_at);
      if (ready.stop) return 0;
      if (silence_at && monotonic_now() >= *silence_at) return report_silence();
      if (ready.readable && replies_.empty()) acknowledge_waiting();
      replies_.flush(socket_.number());
    }
    return 0;
  }

 private:
  void acknowledge_waiting() {
    const std::size_t count = incoming_.receive(socket_.number());
    const Time steady = monotonic_now();
    const Time real = realtime_now();
    for (std::size_t i = 0; i < count; ++i) {
      if (replies_.full()) replies_.flush(socket_.number());
      if (replies_.full()) return;  // the other datagrams count as lost on the path
      const Time age = std::clamp(real - incoming_.arrived_at(i).value_or(real), Time::zero(), kMaxAge);
      const Origin origin = incoming_.origin(i);
      if (const auto reply = receiver_.on_datagram(steady - age, origin.peer_address(), incoming_.datagram(i),
                                                   incoming_.marked(i))) {
        std::ranges::copy(reply->bytes(), replies_.slot().begin());
        replies_.push(reply->bytes().size(), origin);
      }
    }
  }

  static int report_silence() {
    std::cerr << "ccgym-receiver: the sender fell silent " << kSilenceLimit / std::chrono::seconds{1}
              << " seconds ago without a bye\n";
    return 1;
  }

  // The longest time for which a datagram waits in the socket; a larger age means that the real-time clock
  // was set.
  static constexpr Time kMaxAge = std::chrono::seconds{1};

  StopSignals stop_{};
  FileDescriptor socket_;
  bool once_;
  Receiver receiver_;
  ReceiveBatch incoming_{};
  SendBatch replies_{kUsualDatagrams, kAckBytes};
};

int run(std::span<char* const> arguments) {
  const CommandLine line{
      arguments, {.with_value = {"--bind", "--secret"}, .switches = {"--once", "--help", "--version"}}};
  if (line.has("--help") || line.has("--version")) {
    std::cout << (line.has("--help") ? kHelp : "ccgym-receiver " CCGYM_VERSION "\n");
    return 0;
  }
  if (line.positional().size() != 1) throw InputError{"one PORT would be right: see --help"};
  const uint16_t port = parse_port(line.positional()[0]);
  const auto bind = line.value("--bind");
  const Address local = bind ? Address{*bind, port} : any_address(port);
  const ReceiverKeys keys{{random_bits(), random_bits()}, secret_of(line)};
  return ReceiverLoop{local, keys, line.has("--once")}.run();
}

}  // namespace

}  // namespace ccgym

int main(int argc, char* argv[]) {
  const std::span<char* const> arguments{argv + 1, static_cast<std::size_t>(argc - 1)};
  return ccgym::run_program("ccgym-receiver", [&] { return ccgym::run(arguments); });
}
