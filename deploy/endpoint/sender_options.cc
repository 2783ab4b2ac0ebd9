#include "deploy/endpoint/sender_options.hh"

#include <stdexcept>

#include "deploy/endpoint/errors.hh"
#include "deploy/endpoint/flow_stats.hh"
#include "deploy/endpoint/random_bits.hh"
#include "deploy/endpoint/secret_file.hh"
#include "transport/random.hh"
#include "transport/wire.hh"

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

std::optional<GymOptions> gym_of(const CommandLine& line) {
  const auto socket = line.value("--gym");
  if (!socket) return std::nullopt;
  if (line.value("--scheme")) throw InputError{"--scheme does not go with --gym: the gym decides"};
  try {
    return GymOptions{*socket,
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

}  // namespace

OptionNames sender_option_names() {
  return {.with_value = {"--scheme", "--seconds", "--bytes", "--on-off", "--think", "--seed", "--stats",
                         "--gym", "--features", "--actions", "--min-window", "--secret"},
          .switches = {"--check", "--companion", "--help", "--version"}};
}

std::string sender_help() { return std::string{kUsage}.append(kHelp); }

std::string scheme_of(const CommandLine& line) {
  const std::optional<std::string> scheme = line.value("--scheme");
  if (!scheme) throw InputError{"--scheme is missing: --help lists the schemes"};
  return *scheme;
}

SenderOptions parse_sender_options(const CommandLine& line) {
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

}  // namespace ccgym
