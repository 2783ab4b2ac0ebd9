#include "agents/companion/shallow_queue.hh"

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
  // 10 packets of 1500 bytes in a round trip of 100 ms: 1.2 Mbit/s, unless they are further apart.
  bool ack(const RttStats& rtt = kNoQueue) {
    now_ += apart_;
    return report_ack(shallow_queue_, now_,
                      {.bytes = kBytes,
                       .rtt = rtt,
                       .rate = {.delivered_bytes = rtt.latest / apart_ * kBytes, .interval = rtt.latest}});
  }

  bool lose(const RttStats& rtt = kNoQueue) {
    const std::array<LostPacket, 1> lost{{{.bytes = kBytes}}};
    return shallow_queue_.on_loss(lost, 9 * kBytes, rtt);
  }

  // `rounds` times `acks` packets that arrive, and one that does not.
  void run(int rounds, int acks, const RttStats& rtt = kNoQueue) {
    for (int round = 0; round < rounds; ++round) {
      for (int i = 0; i < acks; ++i) ack(rtt);
      lose(rtt);
    }
  }

  // The same of packets that arrived `forward` after they left, with 10 of them in flight.
  bool ack_with_clock(Time forward) {
    now_ += milliseconds{10};
    const Time sent_at = now_ - kLongQueue.latest;
    return report_ack(shallow_queue_, now_,
                      {.bytes = kBytes,
                       .sent_at = sent_at,
                       .received_at = sent_at + forward,
                       .inflight_bytes = 10 * kBytes,
                       .rtt = kLongQueue,
                       .rate = {.delivered_bytes = 20 * kBytes, .interval = kLongQueue.latest}});
  }
  void run_with_clock(int rounds, int acks, Time forward) {
    for (int round = 0; round < rounds; ++round) {
      for (int i = 0; i < acks; ++i) ack_with_clock(forward);
      lose(kLongQueue);
    }
  }

  ShallowQueue shallow_queue_{};
  Time now_{};
  Time apart_{milliseconds{10}};
};

TEST_F(ShallowQueueTest, WithoutLossesNothingIsLimited) {
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(ack());
  EXPECT_FALSE(shallow_queue_.pacing().has_value());
}

// One packet of twenty: right after a loss the average is 1 / 32 / (1 - (31 / 32)^20) = 0.067.
TEST_F(ShallowQueueTest, RandomLossesLimitNothing) {
  run(100, 19);
  EXPECT_FALSE(shallow_queue_.pacing().has_value());
}

// And by half a packet in 100 ms more, 0.06 Mbit/s.
TEST_F(ShallowQueueTest, ManyLossesWithoutAQueuePaceByWhatArrives) {
  run(8, 4);
  ASSERT_TRUE(shallow_queue_.pacing().has_value());
  EXPECT_DOUBLE_EQ(shallow_queue_.pacing()->mbps(), 1.1 * 1.2 + 0.06);
}

// The largest of many rates of few packets is more than the link can carry.
TEST_F(ShallowQueueTest, ARateOfMoreThanFiveRoundTripsAgoIsForgotten) {
  run(8, 4);
  apart_ = milliseconds{20};
  run(5, 4);
  EXPECT_DOUBLE_EQ(shallow_queue_.pacing()->mbps(), 1.1 * 1.2 + 0.06);
  run(2, 4);
  EXPECT_DOUBLE_EQ(shallow_queue_.pacing()->mbps(), 1.1 * 0.6 + 0.06);
}

// What is known after one packet is no share: the flow begins, and somebody else has filled the queue.
TEST_F(ShallowQueueTest, AFirstBurstThatIsLostLimitsNothing) {
  ack();
  for (int i = 0; i < 9; ++i) EXPECT_FALSE(lose());
  ack();
  EXPECT_FALSE(shallow_queue_.pacing().has_value());
}

// In a queue of one packet few arrive: a flow that waited for many would lose for seconds.
TEST_F(ShallowQueueTest, FromEightPacketsOnTheShareIsKnown) {
  for (int i = 0; i < 7; ++i) {
    ack();
    EXPECT_FALSE(lose());
  }
  ack();
  EXPECT_TRUE(lose());
}

// Half the round trip is queue, and so are 5 of the 10 packets in flight: those losses are for the window to
// answer.
TEST_F(ShallowQueueTest, LossesOfALongQueueCountForNothing) {
  run(20, 4, kLongQueue);
  EXPECT_FALSE(shallow_queue_.pacing().has_value());
}

// The ACKs are late, not the packets: by the receiver's clock none of them waits. A round trip takes 200 ms.
TEST_F(ShallowQueueTest, LossesCountWhereOnlyTheWayBackIsLong) {
  run_with_clock(8, 4, milliseconds{50});
  ASSERT_TRUE(shallow_queue_.pacing().has_value());
  EXPECT_DOUBLE_EQ(shallow_queue_.pacing()->mbps(), 1.1 * 1.2 + 0.03);
}

// 3 times what 1.35 Mbit/s bring in the 200 ms without a queue, the way back of 150 ms included.
TEST_F(ShallowQueueTest, TheWindowIsAGuardAlone) {
  run_with_clock(8, 4, milliseconds{50});
  EXPECT_EQ(shallow_queue_.window_bytes(kBytes), 3 * 33'750);
  EXPECT_EQ(shallow_queue_.window_bytes(200'000), 200'000);
}

TEST_F(ShallowQueueTest, WithoutLossesTheWindowIsAsAsked) {
  for (int i = 0; i < 100; ++i) ack();
  EXPECT_EQ(shallow_queue_.window_bytes(kBytes), kBytes);
}

// 10 packets in flight, half of their time in the queue: 5 wait, more than any shallow queue holds.
TEST_F(ShallowQueueTest, EndsWhereItsPacketsWaitAfterAll) {
  run_with_clock(8, 4, milliseconds{50});
  bool told = false;
  for (int i = 0; i < 40 && !told; ++i) told = ack_with_clock(milliseconds{150}) && !shallow_queue_.pacing();
  EXPECT_TRUE(told);
  EXPECT_FALSE(ack_with_clock(milliseconds{150}));
}

// From 0.2 the average falls below 0.005 within 32 ln(40) = 118 packets.
TEST_F(ShallowQueueTest, EndsWithTheLosses) {
  run(10, 4);
  bool told = false;
  for (int i = 0; i < 130 && shallow_queue_.pacing(); ++i) told = ack();
  EXPECT_TRUE(told);
  EXPECT_FALSE(shallow_queue_.pacing().has_value());
  EXPECT_FALSE(ack());
}

TEST_F(ShallowQueueTest, TellsThatPacingBegins) {
  for (int acks = 0; acks < 32; ++acks) ack();
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
