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
#include "transport/sender.hh"

namespace ccgym {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int64_t kPacketBytes = 1000;

// A network without mercy: 16 Mbit/s with 100 ms of queue, it loses one packet in twenty, delays and reorders
// the rest at random, and is silent for two seconds in ten.
class RandomNetwork {
 public:
  RandomNetwork(CongestionController& controller, unsigned seed)
      : controller_{controller}, sender_{controller, kPacketBytes}, random_{seed} {}

  // One event; false when the sender waits for nothing and so would wait for ever.
  bool step() {
    const Time send = sender_.next_send(now_).value_or(Time::max());
    const Time timer = sender_.next_timer().value_or(Time::max());
    const Time ack = acks_.empty() ? Time::max() : acks_.begin()->first;
    const Time next = std::min({send, timer, ack});
    if (next == Time::max()) return false;
    now_ = std::max(now_, next);
    if (ack == next) {
      sender_.on_ack(now_, acks_.begin()->second, now_);
      acks_.erase(acks_.begin());
    } else if (timer == next) {
      sender_.on_timer(now_);
    } else {
      send_packet();
    }
    return true;
  }

  [[nodiscard]] SendLimits limits() const { return controller_.limits(); }
  [[nodiscard]] int64_t delivered_packets() const { return sender_.delivered_packets(); }
  [[nodiscard]] Time now() const { return now_; }

 private:
  void send_packet() {
    const uint64_t seq = sender_.on_sent(now_);
    const bool silent = now_ % seconds{10} > seconds{8};
    const bool full = link_free_at_ > now_ + milliseconds{100};
    if (silent || full || random_() % 20 == 0) return;
    link_free_at_ = std::max(link_free_at_, now_) + microseconds{500};
    acks_.emplace(link_free_at_ + milliseconds{40} + microseconds{random_() % 30'000}, seq);
  }

  CongestionController& controller_;
  Sender<> sender_;
  std::mt19937 random_;
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

TEST_P(EveryController, KeepsSaneLimitsAndNeverStopsOnARandomNetwork) {
  const auto controller = make_controller(GetParam(), {.packet_bytes = kPacketBytes});
  RandomNetwork network{*controller, /*seed=*/1};
  while (network.now() < seconds{25}) {
    ASSERT_TRUE(network.step()) << "waits for ever at " << network.now().count() << " ns";
    const SendLimits limits = network.limits();
    ASSERT_GE(limits.cwnd_bytes, kPacketBytes);
    ASSERT_LT(limits.cwnd_bytes, 100'000 * kPacketBytes);
    ASSERT_TRUE(!limits.pacing_rate ||
                (std::isfinite(limits.pacing_rate->mbps()) && limits.pacing_rate->mbps() > 0));
  }
  EXPECT_GT(network.delivered_packets(), 300);  // nearly one per round trip
}

INSTANTIATE_TEST_SUITE_P(Schemes, EveryController, testing::ValuesIn(schemes()), [](const auto& scheme) {
  std::string name = scheme.param;  // a test's name is letters and digits
  std::ranges::replace_if(name, [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
});

}  // namespace
}  // namespace ccgym
