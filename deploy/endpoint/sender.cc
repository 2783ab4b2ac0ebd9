// ccgym-sender: one flow of dummy data to a ccgym-receiver, under any scheme.

#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "agents/controllers/library_controller.hh"
#include "agents/controllers/make_controller.hh"
#include "deploy/endpoint/address.hh"
#include "deploy/endpoint/clock.hh"
#include "deploy/endpoint/command_line.hh"
#include "deploy/endpoint/errors.hh"
#include "deploy/endpoint/flow_stats.hh"
#include "deploy/endpoint/gym_link.hh"
#include "deploy/endpoint/handshake.hh"
#include "deploy/endpoint/random_bits.hh"
#include "deploy/endpoint/secret_file.hh"
#include "deploy/endpoint/timed_policy.hh"
#include "deploy/endpoint/udp_flow.hh"
#include "deploy/endpoint/udp_socket.hh"
#include "deploy/endpoint/wait.hh"
#include "transport/random.hh"

namespace ccgym {

namespace {

constexpr std::string_view kUsage =
    "usage: ccgym-sender IP PORT --scheme NAME[:ARG] [--seconds S] [--bytes N] [--on-off ON,OFF]\n"
    "                    [--think S] [--seed N] [--stats FILE]\n"
    "       ccgym-sender --check --scheme NAME[:ARG]\n";

constexpr std::string_view kHelp = R"(
Sends full-size UDP datagrams to the ccgym-receiver at IP PORT as fast as the scheme allows.

  IP               numeric IPv4 or IPv6 address, or localhost
  PORT             UDP port, 1 to 65535
  --scheme NAME    who decides (below)
  --seconds S      length of the flow in seconds; without it: until SIGTERM, SIGINT or SIGHUP
  --bytes N        the flow ends when N bytes, rounded up to whole datagrams, have arrived
  --on-off ON,OFF  send now and then: spells with and without data, of exponential length with these means
                   in seconds
  --think S        with --bytes: answers of that size to requests, which come an exponential time of that mean
                   in seconds after the last answer has arrived
  --seed N         seed of what the scheme and the traffic draw by chance (default: the system's choice)
  --stats FILE     at the end write JSON: packets; throughput_mbps (Mbit/s of acknowledged IP bytes);
                   rtt_ms; completion_ms (how long a flow of --bytes took, or each answer); for a policy
                   decision_us (microseconds a decision took); cpu_seconds
  --gym SOCKET     instead of --scheme: whoever listens at this Unix socket decides (see gym_link.hh)
  --features SET   what it is shown: indigo (default), scale_free, aurora, raw
  --actions SET    what it answers: indigo (default), log_window, rate, window, window_and_rate
  --min-window N   least window it may choose, in packets (default: 2)
  --companion      with log_window: what it answers is changed for others on the bottleneck
  --secret FILE    of the receiver, if it has one: 32 to 4096 bytes that only their owner may read
  --check          say only whether the scheme can be run
  --version, --help

Exit codes: 0 done, 1 failure (no answer within 10 tries, one a second), 2 bad usage or input.

Schemes:
)";

// Numbers of the random streams of the scheme and of the traffic.
constexpr uint64_t kSchemeStream = 0;
constexpr uint64_t kTrafficStream = 1;

struct GymArguments {
  std::string socket;
  PolicySpec policy;
};

struct Arguments {
  Address receiver;
  std::string scheme;
  std::optional<GymArguments> gym;
  std::optional<Time> duration;
  uint64_t seed;
  Traffic traffic;
  std::optional<std::string> stats_file;
  std::optional<SipKey> secret;
};

std::string scheme_of(const CommandLine& line) {
  const std::optional<std::string> scheme = line.value("--scheme");
  if (!scheme) throw InputError{"--scheme is missing: --help lists the schemes"};
  return *scheme;
}

std::optional<GymArguments> gym_of(const CommandLine& line) {
  const auto socket = line.value("--gym");
  if (!socket) return std::nullopt;
  if (line.value("--scheme")) throw InputError{"--scheme does not go with --gym: the gym decides"};
  try {
    return GymArguments{*socket,
                        checked_policy(PolicySpec{
                            .feature_set = feature_set_by_name(line.value("--features").value_or("indigo")),
                            .actions = action_set_by_name(line.value("--actions").value_or("indigo")),
                            .min_cwnd_packets = static_cast<double>(
                                parse_count("--min-window", line.value("--min-window").value_or("2"))),
                            .companion = line.has("--companion")})};
  } catch (const std::invalid_argument& error) {
    throw InputError{error.what()};
  }
}

int64_t packets_of(const CommandLine& line) {
  const auto bytes = line.value("--bytes");
  if (!bytes) return 0;
  constexpr auto kPacketBytes = static_cast<int64_t>(kDataBytes);
  return (parse_count("--bytes", *bytes) + kPacketBytes - 1) / kPacketBytes;
}

std::optional<Time> mean_think_of(const CommandLine& line) {
  const auto seconds = line.value("--think");
  if (!seconds) return std::nullopt;
  if (!line.value("--bytes")) throw InputError{"--think needs --bytes, the size of an answer"};
  return parse_seconds("--think", *seconds);
}

TrafficSpec traffic_of(const CommandLine& line) {
  TrafficSpec traffic{.packets = packets_of(line), .mean_think = mean_think_of(line)};
  const auto means = line.value("--on-off");
  if (!means) return traffic;
  const std::size_t comma = means->find(',');
  if (comma == std::string::npos) throw InputError{"--on-off '" + *means + "' is not ON,OFF in seconds"};
  traffic.mean_on = parse_seconds("--on-off", means->substr(0, comma));
  traffic.mean_off = parse_seconds("--on-off", means->substr(comma + 1));
  try {
    return checked(traffic);
  } catch (const std::invalid_argument& error) {
    throw InputError{"--on-off '" + *means + "': " + error.what()};
  }
}

uint64_t seed_of(const CommandLine& line) {
  const auto seed = line.value("--seed");
  return seed ? static_cast<uint64_t>(parse_count("--seed", *seed)) : random_bits();
}

Arguments parse_arguments(const CommandLine& line) {
  if (line.positional().size() != 2) throw InputError{"IP and PORT would be right: see --help"};
  std::optional<Time> duration;
  if (const auto seconds = line.value("--seconds")) duration = parse_seconds("--seconds", *seconds);
  const auto stats_file = line.value("--stats");
  if (stats_file) check_writable(*stats_file);
  const auto gym = gym_of(line);
  const uint64_t seed = seed_of(line);
  return {Address{line.positional()[0], parse_port(line.positional()[1])},
          gym ? "gym" : scheme_of(line),
          gym,
          duration,
          stream_seed(seed, kSchemeStream),
          Traffic{traffic_of(line), stream_seed(seed, kTrafficStream)},
          stats_file,
          secret_of(line)};
}

#ifdef CCGYM_LOADS_LIBRARIES
constexpr std::string_view kProgram = "ccgym-sender-so";
constexpr auto know_libraries = register_library_controllers;
#else
constexpr std::string_view kProgram = "ccgym-sender";

std::unique_ptr<CongestionController> refuse_library(std::string_view, const ControllerConfig&) {
  throw std::invalid_argument(
      "scheme so: this program is static and loads no library: ccgym-sender-so beside it does");
}

void know_libraries() { register_controllers("so", refuse_library); }
#endif

ControllerConfig config_of(uint64_t seed) {
  return {.packet_bytes = kDataBytes, .seed = seed, .started_at = realtime_now()};
}

std::unique_ptr<CongestionController> controller_for(const std::string& scheme, uint64_t seed = 0) {
  try {
    return make_controller(scheme, config_of(seed));
  } catch (const std::exception& error) {
    throw InputError{error.what()};
  }
}

int no_answer(const Arguments& arguments, Answer answer) {
  const std::string where = arguments.receiver.to_string();
  if (answer == Answer::refused) {
    std::cerr << std::string{kProgram} + ": " + where +
                     " takes no flow of ours: it has another, or a --secret that is not ours\n";
    return 1;
  }
  std::cerr << std::string{kProgram} + ": no answer from " + where + " after " + std::to_string(kHelloTries) +
                   " tries: start ccgym-receiver there first, and let its UDP port through\n";
  return 1;
}

int run_sender(const Arguments& arguments) {
  std::optional<GymLink> gym;
  if (arguments.gym) gym.emplace(arguments.gym->socket, arguments.gym->policy, config_of(arguments.seed));
  auto scheme = gym ? nullptr : controller_for(arguments.scheme, arguments.seed);
  const TimedPolicy* timed = nullptr;
  if (scheme && scheme->name() == "policy") {
    auto policy = std::make_unique<TimedPolicy>(std::move(scheme));
    timed = policy.get();
    scheme = std::move(policy);
  }
  CongestionController& decider = gym ? gym->policy() : *scheme;

  StopSignals stop;
  const FileDescriptor socket = connect_udp(arguments.receiver);
  const uint64_t token = random_bits();
  const Answer answer = say_hello(socket, token, arguments.secret, stop);
  if (answer == Answer::stopped) return 0;
  if (answer != Answer::accepted) return no_answer(arguments, answer);

  const double cpu_before = cpu_seconds();
  UdpFlow flow{socket, decider, token, arguments.traffic};
  flow.run(arguments.duration, stop, gym ? &*gym : nullptr);
  const FlowSummary summary{arguments.scheme, arguments.receiver.to_string(), arguments.receiver.is_ipv6(),
                            in_seconds(flow.now()), cpu_seconds() - cpu_before};
  say_bye(socket, token, stop);
  if (arguments.stats_file)
    write_atomically(*arguments.stats_file,
                     to_json(summary, flow, timed ? &timed->decision_times() : nullptr));
  return 0;
}

int help() {
  std::cout << kUsage << kHelp;
  for (const Scheme& scheme : known_schemes()) {
    const std::string_view separator = scheme.argument.empty() ? "" : ":";
    std::cout << "  " << scheme.name << separator << scheme.argument << "   " << scheme.source << "\n";
  }
  std::cout << "  so:FILE.so[:ARGS]   a library of your own (see ccgym/controller.h); ccgym-sender-so only\n";
  return 0;
}

int run(std::span<char* const> arguments) {
  const CommandLine line{
      arguments,
      {.with_value = {"--scheme", "--seconds", "--bytes", "--on-off", "--think", "--seed", "--stats", "--gym",
                      "--features", "--actions", "--min-window", "--secret"},
       .switches = {"--check", "--companion", "--help", "--version"}}};
  know_libraries();
  if (line.has("--help")) return help();
  if (line.has("--version")) {
    std::cout << kProgram << " " CCGYM_VERSION "\n";
    return 0;
  }
  if (line.has("--check")) {
    controller_for(scheme_of(line));
    return 0;
  }
  return run_sender(parse_arguments(line));
}

}  // namespace

}  // namespace ccgym

int main(int argc, char* argv[]) {
  const std::span<char* const> arguments{argv + 1, static_cast<std::size_t>(argc - 1)};
  return ccgym::run_program(ccgym::kProgram, [&] { return ccgym::run(arguments); });
}
