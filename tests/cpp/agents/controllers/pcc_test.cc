#include "agents/controllers/pcc/pcc.hh"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "agents/controllers/pcc/allegro.hh"
#include "agents/controllers/pcc/vivace.hh"
#include "tests/cpp/agents/controllers/changing_path.hh"
#include "tests/cpp/transport/events.hh"

namespace ccgym {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int64_t kPacketBytes = 1500;

// A learner that always chooses 1.2 Mbit/s, one packet per 10 ms, and counts the intervals.
class Steady final : public RateLearner {
 public:
  explicit Steady(int& asked) : asked_{asked} {}

  [[nodiscard]] std::string_view name() const override { return "steady"; }
  [[nodiscard]] std::unique_ptr<RateLearner> clone() const override {
    return std::make_unique<Steady>(*this);
  }
  void start(double /*rate_mbps*/) override {}
  Trial next() override { return {asked_++, 1.2}; }
  bool learn(const MonitorInterval& /*result*/) override { return false; }

 private:
  int& asked_;
};

class PccTest : public testing::Test {
 protected:
  void send(milliseconds now) {
    pcc_.on_sent(now, {.seq = next_seq_++, .bytes = kPacketBytes, .smoothed_rtt = rtt_.smoothed});
  }
  // The ACK of the oldest packet.
  void acknowledge(milliseconds now, milliseconds rtt, milliseconds smoothed_rtt) {
    rtt_ = {.latest = rtt, .smoothed = smoothed_rtt};
    report_ack(pcc_, now, {.seq = next_ack_++, .bytes = kPacketBytes, .sent_at = now - rtt, .rtt = rtt_});
  }

  int asked_{0};
  RttStats rtt_{};
  Pcc pcc_{kPacketBytes, 1, {.least = 2, .most = 2}, std::make_unique<Steady>(asked_)};
  uint64_t next_seq_{0};
  uint64_t next_ack_{0};
};

TEST(PccWith, IsTheSchemeOfItsLearner) {
  EXPECT_EQ(Pcc::with<Allegro>(kPacketBytes, {}, 1).name(), "allegro");
  EXPECT_EQ(Pcc::with<Vivace>(kPacketBytes, {.utility = Vivace::Utility::loss}, 1).name(), "vivace");
}

// While the window is closed no interval begins, because it would have no packets.
TEST_F(PccTest, BeginsAnIntervalWithItsFirstPacket) {
  send(milliseconds{0});
  acknowledge(milliseconds{100}, milliseconds{100}, milliseconds{100});
  EXPECT_EQ(asked_, 1);
  EXPECT_EQ(pcc_.next_timer(), std::nullopt);
  send(milliseconds{130});
  EXPECT_EQ(pcc_.next_timer(), milliseconds{130 + 2 * 100});
}

// Allegro section 3.1: the longer of ten packets' time, 100 ms, and two RTTs.
TEST_F(PccTest, EndsAnIntervalAfterTenPacketsOrItsRoundTrips) {
  send(milliseconds{0});
  acknowledge(milliseconds{20}, milliseconds{20}, milliseconds{20});
  send(milliseconds{20});
  EXPECT_EQ(pcc_.next_timer(), milliseconds{20 + 100});
}

TEST_F(PccTest, DoesNotMeasureForAsLongAsAnOutageTook) {
  send(milliseconds{0});
  send(milliseconds{1});
  acknowledge(milliseconds{3000}, milliseconds{3000}, milliseconds{3000});
  send(milliseconds{3010});
  EXPECT_EQ(pcc_.next_timer(), milliseconds{3010 + 6000});
  acknowledge(milliseconds{3050}, milliseconds{40}, milliseconds{400});
  EXPECT_EQ(pcc_.next_timer(), milliseconds{3010 + 800});
}

TEST_F(PccTest, TriesNothingNewWhileManyIntervalsAreWithoutAnswer) {
  send(milliseconds{0});
  acknowledge(milliseconds{20}, milliseconds{20}, milliseconds{20});
  for (int i = 0; i < 1000; ++i) {
    send(milliseconds{20 + 100 * i});
    const std::optional<Time> timer = pcc_.next_timer();
    ASSERT_TRUE(timer);
    pcc_.on_timer(*timer, {.rtt = rtt_});
  }
  EXPECT_EQ(asked_, 64);
}

// The rate is held for the length of another interval.
TEST_F(PccTest, HoldsItsRateForTheRoundTripsThatItsTimerIsTold) {
  send(milliseconds{0});
  acknowledge(milliseconds{20}, milliseconds{20}, milliseconds{20});
  for (int i = 0; i < 64; ++i) {
    send(milliseconds{20 + 100 * i});
    pcc_.on_timer(*pcc_.next_timer(), {.rtt = rtt_});
  }
  pcc_.on_timer(seconds{10}, {.rtt = {.smoothed = seconds{1}}});
  EXPECT_EQ(pcc_.next_timer(), seconds{10 + 2});
}

// With an RTT above a second the window is two round trips, so that only pacing limits the flow.
TEST_F(PccTest, IsNotHeldByItsWindowOnALongPath) {
  send(milliseconds{0});
  acknowledge(milliseconds{5000}, milliseconds{5000}, milliseconds{5000});
  EXPECT_NEAR(static_cast<double>(pcc_.limits().cwnd_bytes),
              pcc_.limits().pacing_rate->bytes_in(milliseconds{10'000}), 1);
}

class AppLimitedPcc : public testing::TestWithParam<const char*> {};

// Five packets per round trip: RFC 9002, section 7.8. The window is two seconds of the rate, 48 round trips.
TEST_P(AppLimitedPcc, DoesNotRaiseARateThatIsNotUsed) {
  FlowOnChangingPath flow{GetParam(), {.offers = [](double, int64_t inflight) { return inflight < 5; }}};
  double most_packets = 0;
  for (int second = 10; second <= 60; ++second) {
    flow.run_until(second);
    most_packets = std::max(most_packets, flow.cwnd_packets());
  }
  EXPECT_LT(most_packets, 48 * 4 * 5);
}

INSTANTIATE_TEST_SUITE_P(Schemes, AppLimitedPcc, testing::Values("allegro", "vivace"));

}  // namespace
}  // namespace ccgym
