#include "transport/pacer.hh"

#include <gtest/gtest.h>

namespace ccgym {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(Pacer, WithoutARateEveryPacketIsDueAtOnce) {
  Pacer pacer;
  pacer.on_sent(milliseconds{5}, 1500);
  EXPECT_EQ(pacer.next_release(milliseconds{5}), Time{milliseconds{5}});
}

Pacer pacer_at(double mbps) {
  Pacer pacer;
  pacer.set_rate(Time{}, Rate::from_mbps(mbps));
  return pacer;
}

TEST(Pacer, SpacesPacketsBySizeOverRate) {
  Pacer pacer = pacer_at(12);
  pacer.on_sent(milliseconds{10}, 1500);  // 12,000 bits at 12 Mbit/s: 1 ms, of which 1 ms was saved up
  EXPECT_EQ(pacer.next_release(milliseconds{10}), Time{milliseconds{10}});
  pacer.on_sent(milliseconds{10}, 1500);
  EXPECT_EQ(pacer.next_release(milliseconds{10}), Time{milliseconds{11}});
}

// Half of a gap of 2 ms has passed at 12 Mbit/s; the other half passes at ten times the rate, or at a tenth.
TEST(Pacer, FollowsAChangedRateAtOnce) {
  Pacer pacer = pacer_at(12);
  pacer.on_sent(milliseconds{10}, 1500);
  pacer.on_sent(milliseconds{10}, 3000);
  ASSERT_EQ(pacer.next_release(milliseconds{10}), Time{milliseconds{12}});
  pacer.set_rate(milliseconds{11}, Rate::from_mbps(120));
  EXPECT_EQ(pacer.next_release(milliseconds{11}), Time{milliseconds{11} + microseconds{100}});
  pacer.set_rate(milliseconds{11}, Rate::from_mbps(1.2));
  EXPECT_EQ(pacer.next_release(milliseconds{11}), Time{milliseconds{21}});
  pacer.set_rate(milliseconds{11}, std::nullopt);
  EXPECT_EQ(pacer.next_release(milliseconds{11}), Time{milliseconds{11}});
}

// The mean gap, with a driver that is never late.
double long_run_mbps(double mbps, int64_t bytes, double other_mbps) {
  constexpr int kPackets = 50'000;
  Pacer pacer = pacer_at(mbps);
  Time now{};
  for (int i = 0; i < kPackets; ++i) {
    pacer.on_sent(now, bytes);
    pacer.set_rate(now, Rate::from_mbps(other_mbps));  // and back, as a controller does between two ACKs
    pacer.set_rate(now, Rate::from_mbps(mbps));
    now = pacer.next_release(now);
  }
  return Rate::of(static_cast<double>(kPackets * bytes), now).mbps();
}

// 12,256.48 ns a packet at 937.3 Mbit/s: without the fraction 39 millionths too fast.
TEST(Pacer, KeepsItsRateOverManyPacketsToAMillionth) {
  for (const double mbps : {0.937, 93.73, 937.3, 9373.0, 81'111.0}) {
    for (const int64_t bytes : {1000, 1436, 1448}) {
      EXPECT_NEAR(long_run_mbps(mbps, bytes, mbps) / mbps, 1, 1e-6) << mbps << ", " << bytes;
      EXPECT_NEAR(long_run_mbps(mbps, bytes, 0.7 * mbps) / mbps, 1, 1e-6) << mbps << ", " << bytes;
    }
  }
}

TEST(Pacer, ALateDriverCatchesUpByNoMoreThanAMillisecond) {
  Pacer pacer = pacer_at(120);
  for (int i = 0; i < 5; ++i) pacer.on_sent(milliseconds{0}, 1500);
  const Time late = milliseconds{50};
  int burst = 0;
  while (pacer.next_release(late) == late) {
    pacer.on_sent(late, 1500);
    ++burst;
  }
  EXPECT_EQ(burst, 11);  // a millisecond at 100 us a packet, and the one that is due
}

TEST(Pacer, WaitingForTheWindowEarnsNoBurst) {
  Pacer pacer = pacer_at(120);
  pacer.on_sent(milliseconds{0}, 1500);
  pacer.on_window_opened(milliseconds{50});
  pacer.on_sent(milliseconds{50}, 1500);
  EXPECT_EQ(pacer.next_release(milliseconds{50}), Time{milliseconds{50} + microseconds{100}});
}

TEST(Pacer, ARateOfAlmostNothingStillSendsAPacketASecond) {
  Pacer pacer = pacer_at(1e-12);
  pacer.on_sent(milliseconds{0}, 1500);
  EXPECT_LE(pacer.next_release(milliseconds{0}), Time{milliseconds{1000}});
}

}  // namespace
}  // namespace ccgym
