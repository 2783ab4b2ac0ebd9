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
constexpr int64_t kMostPackets = 100'000;   // of a window, here, where 180 fill link and queue
constexpr int64_t kLeastDelivered = 250;    // in 25 s: nearly one per round trip
constexpr int kMostEventsAtOnce = 100'000;  // of one instant: timers that do not move
constexpr std::ptrdiff_t kStepsOfACopy = 2000;

struct Decision {
  Time now{};
  int64_t cwnd_bytes{};
  std::optional<Rate> pacing_rate{};

  bool operator==(const Decision&) const = default;
};

std::unique_ptr<CongestionController> fresh(std::string_view scheme) {
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

// One flight, and what it shows.
struct Flown {
  std::vector<Decision> decisions{};
  int64_t delivered_packets{};
  std::string insane_limits{};
  std::string endless_wait{};
  std::string stuck_timer{};

  [[nodiscard]] bool ended() const { return endless_wait.empty() && stuck_timer.empty(); }
};

std::string insanity_of(const Decision& decision) {
  if (decision.cwnd_bytes < kPacketBytes || decision.cwnd_bytes > kMostPackets * kPacketBytes)
    return at(decision.now, "a window of " + std::to_string(decision.cwnd_bytes / kPacketBytes) +
                                " packets; 1 to " + std::to_string(kMostPackets) + " make sense here");
  if (decision.pacing_rate &&
      !(std::isfinite(decision.pacing_rate->mbps()) && decision.pacing_rate->mbps() > 0))
    return at(decision.now, "a pacing rate of " + std::to_string(decision.pacing_rate->mbps()) + " Mbit/s");
  return "";
}

// One event of the network; false when the flight is over.
bool advance(RandomNetwork& network, Flown& flown, int& at_once) {
  const Time before = network.now();
  if (!network.step()) {
    flown.endless_wait = at(before, "nothing is in flight, no timer is set, and it sends nothing");
    return false;
  }
  at_once = network.now() == before ? at_once + 1 : 0;
  if (at_once > kMostEventsAtOnce)
    flown.stuck_timer = at(before, "its timer is due, or its window open, again and again");
  flown.decisions.push_back(decision_of(network));
  if (flown.insane_limits.empty()) flown.insane_limits = insanity_of(flown.decisions.back());
  return flown.stuck_timer.empty() && network.now() < kDuration;
}

Flown fly(std::string_view scheme, unsigned seed) {
  RandomNetwork network{fresh(scheme), seed};
  Flown flown;
  for (int at_once = 0; advance(network, flown, at_once);) {
  }
  flown.delivered_packets = network.delivered_packets();
  return flown;
}

std::string first_difference(const std::vector<Decision>& one, const std::vector<Decision>& other) {
  const auto [mine, theirs] = std::ranges::mismatch(one, other);
  if (mine == one.end() && theirs == other.end()) return "";
  return at(mine == one.end() ? theirs->now : mine->now, "it decides otherwise");
}

// While another one flies on another network, an event of each in turn.
std::vector<Decision> fly_beside_another(std::string_view scheme, unsigned seed) {
  RandomNetwork network{fresh(scheme), seed};
  RandomNetwork other{fresh(scheme), seed + 1};
  Flown flown;
  bool goes_on = true;
  for (int at_once = 0; advance(network, flown, at_once);) {
    if (goes_on) goes_on = other.step();
  }
  return flown.decisions;
}

std::string difference_of_copies(std::string_view scheme, unsigned seed) {
  RandomNetwork network{fresh(scheme), seed};
  for (int copies = 0; copies < 3; ++copies) {
    for (std::ptrdiff_t i = 0; i < kStepsOfACopy; ++i) network.step();
    RandomNetwork copy{network};
    for (std::ptrdiff_t i = 0; i < kStepsOfACopy; ++i) {
      network.step();
      copy.step();
      if (decision_of(copy) != decision_of(network)) return at(network.now(), "its copy decides otherwise");
    }
  }
  return "";
}

// A copy made midway decides as the original does.
Promise copies_alike(std::string_view scheme, unsigned seed) {
  Promise promise{"a copy made midway goes on as itself"};
  try {
    promise.breach = difference_of_copies(scheme, seed);
  } catch (const NotCopyableError& error) {
    promise.unchecked = error.what();
  }
  return promise;
}

std::string too_little(const Flown& flown) {
  if (flown.delivered_packets >= kLeastDelivered) return "";
  return "it delivers " + std::to_string(flown.delivered_packets) + " packets in 25 s, at least " +
         std::to_string(kLeastDelivered) + " would be right";
}

}  // namespace

std::vector<Promise> check_promises(std::string_view scheme, unsigned seed) {
  const Flown flown = fly(scheme, seed);
  std::vector<Promise> promises{
      {"windows and rates stay sane", flown.insane_limits},
      {"it never waits for ever", flown.endless_wait},
      {"its timers and its window let time go on", flown.stuck_timer},
      {"it goes on after losses, reordering, silence and idle times", too_little(flown)},
  };
  if (!flown.ended()) return promises;
  promises.push_back(
      {"the same flight is the same again", first_difference(flown.decisions, fly(scheme, seed).decisions)});
  promises.push_back({"another flow of it in the same process changes nothing",
                      first_difference(flown.decisions, fly_beside_another(scheme, seed))});
  promises.push_back(copies_alike(scheme, seed));
  return promises;
}

}  // namespace ccgym
