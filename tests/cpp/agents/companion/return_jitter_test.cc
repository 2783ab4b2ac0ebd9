#include "agents/companion/return_jitter.hh"

#include <gtest/gtest.h>

#include <array>
#include <optional>

namespace ccgym {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kRtt{100};
constexpr std::chrono::hours kOtherClock{5};

class ReturnJitterTest : public testing::Test {
 protected:
  // ACKs of a round trip, whose way back takes so long.
  void round(milliseconds way_back) {
    for (int i = 0; i < 10; ++i) {
      now_ += kRtt / 10;
      ack(now_ - way_back + kOtherClock);
    }
  }
  void ack(std::optional<Time> received_at) {
    const std::array acked{AckedPacket{.received_at = received_at}};
    jitter_.on_ack(now_, {.acked = acked, .rtt = {.latest = kRtt, .smoothed = kRtt, .min = kRtt}});
  }

  ReturnJitter jitter_{};
  Time now_{};
};

TEST_F(ReturnJitterTest, IsByHowMuchTheWayBackVaries) {
  round(milliseconds{40});
  EXPECT_EQ(jitter_.spread(), Time{});
  round(milliseconds{47});
  EXPECT_EQ(jitter_.spread(), milliseconds{7});
}

TEST_F(ReturnJitterTest, ForgetsWhatIsOver) {
  round(milliseconds{90});
  for (int i = 0; i < 5; ++i) round(milliseconds{40});
  EXPECT_EQ(jitter_.spread(), Time{});
}

TEST_F(ReturnJitterTest, IsUnknownWhereTheReceiverDoesNotTellItsTime) {
  ack(std::nullopt);
  EXPECT_EQ(jitter_.spread(), Time{});
}

}  // namespace
}  // namespace ccgym
