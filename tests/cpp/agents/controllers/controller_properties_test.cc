// What holds for every controller, whatever the network does to its packets.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "agents/controllers/make_controller.hh"
#include "tests/cpp/transport/driver_contract.hh"
#include "transport/cloned.hh"
#include "transport/sender.hh"
#include "transport/traffic.hh"

namespace ccgym {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int64_t kPacketBytes = 1000;

// A network without mercy: 16 Mbit/s with 100 ms of queue, it loses one packet in twenty, delays and reorders
// the rest at random, acknowledges some of them together, and is silent for two seconds in ten. Its
// application pauses now and then.
class RandomNetwork {
 public:
  RandomNetwork(const CongestionController& controller, unsigned seed)
      : controller_{controller.clone()}, sender_{*controller_, kPacketBytes}, random_{seed} {}
  RandomNetwork(const RandomNetwork& other)
      : controller_{other.controller_},
        sender_{other.sender_},
        random_{other.random_},
        traffic_{other.traffic_},
        now_{other.now_},
        link_free_at_{other.link_free_at_},
        acks_{other.acks_} {
    sender_.relink(*controller_);
  }
  RandomNetwork& operator=(const RandomNetwork&) = delete;
  ~RandomNetwork() = default;

  // One event; false when the sender waits for nothing and so would wait for ever.
  bool step() {
    const Time send = next_departure();
    const Time timer = sender_.next_timer().value_or(Time::max());
    const Time ack = acks_.empty() ? Time::max() : acks_.begin()->first;
    const Time next = std::min({send, timer, ack});
    if (next == Time::max()) return false;
    now_ = std::max(now_, next);
    if (ack == next) {
      acknowledge();
    } else if (timer == next) {
      sender_.on_timer(now_);
    } else if (may_send()) {
      send_packet();
    }
    return true;
  }

  [[nodiscard]] const CongestionController& controller() const { return *controller_; }
  [[nodiscard]] SendLimits limits() const { return controller_->limits(); }
  [[nodiscard]] int64_t delivered_packets() const { return sender_.delivered_packets(); }
  [[nodiscard]] Time now() const { return now_; }

 private:
  Time next_departure() {
    const std::optional<Time> send = sender_.next_send(now_);
    if (!send) return Time::max();
    return may_send() ? *send : traffic_.next_change().value_or(Time::max());
  }

  bool may_send() {
    if (sender_.owes_probe() || traffic_.offers(now_, 0, 0)) return true;
    sender_.on_app_limited();
    return false;
  }

  // What has come within two milliseconds, one time in two, is one ACK.
  void acknowledge() {
    std::vector<Arrival> arrivals;
    const Time until = random_() % 2 == 0 ? now_ + milliseconds{2} : now_;
    while (!acks_.empty() && acks_.begin()->first <= until) {
      arrivals.push_back({acks_.begin()->second, now_});
      acks_.erase(acks_.begin());
    }
    std::ranges::sort(arrivals, {}, &Arrival::seq);
    sender_.on_ack(now_, arrivals);
  }

  void send_packet() {
    const uint64_t seq = sender_.on_sent(now_);
    const bool silent = now_ % seconds{10} > seconds{8};
    const bool full = link_free_at_ > now_ + milliseconds{100};
    if (silent || full || random_() % 20 == 0) return;
    link_free_at_ = std::max(link_free_at_, now_) + microseconds{500};
    acks_.emplace(link_free_at_ + milliseconds{40} + microseconds{random_() % 30'000}, seq);
  }

  Cloned<CongestionController> controller_;
  Sender<> sender_;
  std::mt19937 random_;
  Traffic traffic_{{.mean_on = milliseconds{1500}, .mean_off = milliseconds{300}}, 1};
  Time now_{};
  Time link_free_at_{};
  std::multimap<Time, uint64_t> acks_{};
};

bool needs_argument(std::string_view scheme) {
  constexpr std::array<std::string_view, 4> kNeed{"fixed", "policy", "rate", "remy"};
  return std::ranges::find(kNeed, scheme) != kNeed.end();
}

// The whole table, and arguments for what needs or takes one; a policy and a rule table need a file.
std::vector<std::string> schemes() {
  std::vector<std::string> schemes{"fixed:20", "rate:4", "copa:0.1", "allegro:loss", "vivace:loss"};
  for (const Scheme& scheme : known_schemes()) {
    if (!needs_argument(scheme.name)) schemes.emplace_back(scheme.name);
  }
  return schemes;
}

class EveryController : public testing::TestWithParam<std::string> {};

void expect_sane(const SendLimits& limits) {
  ASSERT_GE(limits.cwnd_bytes, kPacketBytes);
  ASSERT_LT(limits.cwnd_bytes, 100'000 * kPacketBytes);
  ASSERT_TRUE(!limits.pacing_rate ||
              (std::isfinite(limits.pacing_rate->mbps()) && limits.pacing_rate->mbps() > 0));
}

TEST_P(EveryController, KeepsSaneLimitsAndNeverStopsOnARandomNetwork) {
  RandomNetwork network{*make_controller(GetParam(), {.packet_bytes = kPacketBytes}), /*seed=*/1};
  while (network.now() < seconds{25}) {
    ASSERT_TRUE(network.step()) << "waits for ever at " << network.now().count() << " ns";
    ASSERT_NO_FATAL_FAILURE(expect_sane(network.limits()));
  }
  EXPECT_GT(network.delivered_packets(), 250);  // nearly one per round trip
}

// What follows is the same in the copy, whenever it was made.
TEST_P(EveryController, GoesOnInACopyAsItWouldItself) {
  RandomNetwork network{*make_controller(GetParam(), {.packet_bytes = kPacketBytes}), /*seed=*/2};
  for (int copies = 0; copies < 5; ++copies) {
    for (int i = 0; i < 2000; ++i) ASSERT_TRUE(network.step());
    RandomNetwork copy{network};
    for (int i = 0; i < 2000; ++i) {
      network.step();
      copy.step();
      ASSERT_EQ(copy.now(), network.now());
      ASSERT_EQ(copy.limits().cwnd_bytes, network.limits().cwnd_bytes);
    }
  }
}

TEST_P(EveryController, MeetsASenderThatKeepsItsContract) {
  const DriverContract contract{make_controller(GetParam(), {.packet_bytes = kPacketBytes})};
  RandomNetwork network{contract, /*seed=*/3};
  while (network.now() < seconds{25} && network.step()) {
  }
  EXPECT_EQ(dynamic_cast<const DriverContract&>(network.controller()).breaches(), std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(Schemes, EveryController, testing::ValuesIn(schemes()), [](const auto& scheme) {
  std::string name = scheme.param;  // a test's name is letters and digits
  std::ranges::replace_if(name, [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
});

}  // namespace
}  // namespace ccgym
