#include "agents/policy/shallow_queue.hh"

#include <gtest/gtest.h>

#include <array>

#include "tests/cpp/transport/events.hh"

namespace ccgym {
namespace {

using std::chrono::milliseconds;

constexpr int64_t kBytes = 1500;
constexpr RttStats kNoQueue{milliseconds{100}, milliseconds{100}, milliseconds{100}};
constexpr RttStats kLongQueue{milliseconds{200}, milliseconds{200}, milliseconds{100}};

class ShallowQueueTest : public testing::Test {
 protected:
  // 10 packets of 1500 bytes in a round trip of 100 ms: 1.2 Mbit/s.
  bool ack(const RttStats& rtt = kNoQueue) {
    now_ += milliseconds{10};
    return report_ack(
        shallow_queue_, now_,
        {.bytes = kBytes,
         .rtt = rtt,
         .rate = {.delivered_bytes = rtt.latest / milliseconds{10} * kBytes, .interval = rtt.latest}});
  }

  bool lose(const RttStats& rtt = kNoQueue) {
    const std::array<LostPacket, 1> lost{{{.bytes = kBytes}}};
    return shallow_queue_.on_loss(lost, 9 * kBytes, rtt);
  }

  // `rounds` times `acks` packets that arrive, and one that does not.
  void fly(int rounds, int acks, const RttStats& rtt = kNoQueue) {
    for (int round = 0; round < rounds; ++round) {
      for (int i = 0; i < acks; ++i) ack(rtt);
      lose(rtt);
    }
  }

  ShallowQueue shallow_queue_{};
  Time now_{};
};

TEST_F(ShallowQueueTest, WithoutLossesNothingIsLimited) {
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(ack());
  EXPECT_FALSE(shallow_queue_.pacing().has_value());
}

// One packet of twenty: right after a loss the average is 1 / 32 / (1 - (31 / 32)^20) = 0.067.
TEST_F(ShallowQueueTest, RandomLossesLimitNothing) {
  fly(100, 19);
  EXPECT_FALSE(shallow_queue_.pacing().has_value());
}

TEST_F(ShallowQueueTest, ManyLossesWithoutAQueuePaceByWhatArrives) {
  fly(5, 4);
  ASSERT_TRUE(shallow_queue_.pacing().has_value());
  EXPECT_DOUBLE_EQ(shallow_queue_.pacing()->mbps(), 1.25 * 1.2);
}

// Half the round trip is queue, and so are 5 of the 10 packets in flight: those losses are for the window to
// answer.
TEST_F(ShallowQueueTest, LossesOfALongQueueCountForNothing) {
  fly(20, 4, kLongQueue);
  EXPECT_FALSE(shallow_queue_.pacing().has_value());
}

// From 0.2 the average falls below 0.005 within 32 ln(40) = 118 packets.
TEST_F(ShallowQueueTest, EndsWithTheLosses) {
  fly(10, 4);
  bool told = false;
  for (int i = 0; i < 130 && shallow_queue_.pacing(); ++i) told = ack();
  EXPECT_TRUE(told);
  EXPECT_FALSE(shallow_queue_.pacing().has_value());
  EXPECT_FALSE(ack());
}

TEST_F(ShallowQueueTest, TellsThatPacingBegins) {
  ack();
  bool told = false;
  for (int losses = 0; losses < 10 && !told; ++losses) {
    told = lose();
    ack();
  }
  EXPECT_TRUE(told);
  EXPECT_TRUE(shallow_queue_.pacing().has_value());
}

}  // namespace
}  // namespace ccgym
