#include "envs/twin/promises.hh"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <sstream>
#include <vector>

#include "agents/controllers/library_controller.hh"
#include "agents/controllers/make_controller.hh"
#include "envs/twin/random_network.hh"

namespace ccgym {

namespace {

constexpr Time kDuration = std::chrono::seconds{25};
constexpr int64_t kPacketBytes = RandomNetwork::kPacketBytes;
constexpr int64_t kMaxPackets = 100'000;     // of a window without a pacing rate; 180 fill link and queue
constexpr int64_t kMinDelivered = 250;       // in 25 s: nearly one per round trip
constexpr int kMaxEventsAtOnce = 100'000;    // at one instant: more means timers that do not advance
constexpr std::ptrdiff_t kCopySteps = 2000;  // for which a copy runs beside its original

struct Decision {
  Time now{};
  int64_t cwnd_bytes{};
  std::optional<Rate> pacing_rate{};

  bool operator==(const Decision&) const = default;
};

std::unique_ptr<CongestionController> make_scheme(std::string_view scheme) {
  return make_controller(scheme, {.packet_bytes = kPacketBytes});
}

Decision decision_of(const RandomNetwork& network) {
  const SendLimits limits = network.limits();
  return {network.now(), limits.cwnd_bytes, limits.pacing_rate};
}

std::string at(Time now, const std::string& what) {
  std::ostringstream text;
  text << "at " << std::chrono::duration<double>{now}.count() << " s: " << what;
  return text.str();
}

// One run and its findings.
struct Outcome {
  std::vector<Decision> decisions{};
  int64_t delivered_packets{};
  std::string invalid_limits{};
  std::string endless_wait{};
  std::string stuck_timer{};

  [[nodiscard]] bool ended() const { return endless_wait.empty() && stuck_timer.empty(); }
};

std::string problem_of(const Decision& decision) {
  const int64_t cwnd_packets = decision.cwnd_bytes / kPacketBytes;
  if (cwnd_packets < 1)
    return at(decision.now,
              "a window of " + std::to_string(cwnd_packets) + " packets; at least 1 makes sense");
  if (cwnd_packets > kMaxPackets && !decision.pacing_rate)
    return at(decision.now, "a window of " + std::to_string(cwnd_packets) +
                                " packets and no pacing rate; 1 to " + std::to_string(kMaxPackets) +
                                " make sense here");
  if (decision.pacing_rate &&
      !(std::isfinite(decision.pacing_rate->mbps()) && decision.pacing_rate->mbps() > 0))
    return at(decision.now, "a pacing rate of " + std::to_string(decision.pacing_rate->mbps()) + " Mbit/s");
  return "";
}

// Runs one event of the network and checks it. Returns false when the run is over.
bool advance(RandomNetwork& network, Outcome& outcome, int& events_at_once) {
  const Time before = network.now();
  if (!network.step()) {
    outcome.endless_wait = at(before, "nothing is in flight, no timer is set, and it sends nothing");
    return false;
  }
  events_at_once = network.now() == before ? events_at_once + 1 : 0;
  if (events_at_once > kMaxEventsAtOnce)
    outcome.stuck_timer = at(before, "its timer is due, or its window open, again and again");
  outcome.decisions.push_back(decision_of(network));
  if (outcome.invalid_limits.empty()) outcome.invalid_limits = problem_of(outcome.decisions.back());
  return outcome.stuck_timer.empty() && network.now() < kDuration;
}

Outcome run(std::string_view scheme, unsigned seed) {
  RandomNetwork network{make_scheme(scheme), seed};
  Outcome outcome;
  for (int events_at_once = 0; advance(network, outcome, events_at_once);) {
  }
  outcome.delivered_packets = network.delivered_packets();
  return outcome;
}

std::string first_difference(const std::vector<Decision>& one, const std::vector<Decision>& other) {
  const auto [mine, theirs] = std::ranges::mismatch(one, other);
  if (mine == one.end() && theirs == other.end()) return "";
  return at(mine == one.end() ? theirs->now : mine->now, "it decides otherwise");
}

// Interleaved with a second run on another network, one event of each in turn.
std::vector<Decision> run_beside_another(std::string_view scheme, unsigned seed) {
  RandomNetwork network{make_scheme(scheme), seed};
  RandomNetwork other{make_scheme(scheme), seed + 1};
  Outcome outcome;
  bool other_runs = true;
  for (int events_at_once = 0; advance(network, outcome, events_at_once);) {
    if (other_runs) other_runs = other.step();
  }
  return outcome.decisions;
}

std::string difference_of_copies(std::string_view scheme, unsigned seed) {
  RandomNetwork network{make_scheme(scheme), seed};
  for (int copies = 0; copies < 3; ++copies) {
    for (std::ptrdiff_t i = 0; i < kCopySteps; ++i) network.step();
    RandomNetwork copy{network};
    for (std::ptrdiff_t i = 0; i < kCopySteps; ++i) {
      network.step();
      copy.step();
      if (decision_of(copy) != decision_of(network)) return at(network.now(), "its copy decides otherwise");
    }
  }
  return "";
}

// A copy made midway has to decide as the original does.
Promise copies_alike(std::string_view scheme, unsigned seed) {
  Promise promise{"a copy made midway goes on as itself"};
  try {
    promise.breach = difference_of_copies(scheme, seed);
  } catch (const NotCopyableError& error) {
    promise.unchecked = error.what();
  }
  return promise;
}

std::string too_little(const Outcome& outcome) {
  if (outcome.delivered_packets >= kMinDelivered) return "";
  return "it delivers " + std::to_string(outcome.delivered_packets) + " packets in 25 s, at least " +
         std::to_string(kMinDelivered) + " would be right";
}

}  // namespace

std::vector<Promise> check_promises(std::string_view scheme, unsigned seed) {
  const Outcome outcome = run(scheme, seed);
  std::vector<Promise> promises{
      {"windows and rates stay sane", outcome.invalid_limits},
      {"it never waits for ever", outcome.endless_wait},
      {"its timers and its window let time go on", outcome.stuck_timer},
      {"it goes on after losses, reordering, silence and idle times", too_little(outcome)},
  };
  if (!outcome.ended()) return promises;
  promises.push_back(
      {"the same run is the same again", first_difference(outcome.decisions, run(scheme, seed).decisions)});
  promises.push_back({"another flow of it in the same process changes nothing",
                      first_difference(outcome.decisions, run_beside_another(scheme, seed))});
  promises.push_back(copies_alike(scheme, seed));
  return promises;
}

}  // namespace ccgym
