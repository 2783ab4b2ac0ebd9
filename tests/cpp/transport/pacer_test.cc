#include "transport/pacer.hh"

#include <gtest/gtest.h>

namespace ccgym {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(Pacer, WithoutARateEveryPacketIsDueAtOnce) {
  Pacer pacer;
  pacer.on_sent(milliseconds{5}, 1500, std::nullopt);
  EXPECT_EQ(pacer.next_release(milliseconds{5}), Time{milliseconds{5}});
}

TEST(Pacer, SpacesPacketsBySizeOverRate) {
  Pacer pacer;
  pacer.on_sent(milliseconds{10}, 1500,
                Rate::from_mbps(12.0));  // 12,000 bits at 12 Mbit/s: 1 ms, of which 1 ms was saved up
  EXPECT_EQ(pacer.next_release(milliseconds{10}), Time{milliseconds{10}});
  pacer.on_sent(milliseconds{10}, 1500, Rate::from_mbps(12.0));
  EXPECT_EQ(pacer.next_release(milliseconds{10}), Time{milliseconds{11}});
}

TEST(Pacer, ALateDriverCatchesUpByNoMoreThanAMillisecond) {
  Pacer pacer;
  for (int i = 0; i < 5; ++i) pacer.on_sent(milliseconds{0}, 1500, Rate::from_mbps(120.0));
  const Time late = milliseconds{50};
  int burst = 0;
  while (pacer.next_release(late) == late) {
    pacer.on_sent(late, 1500, Rate::from_mbps(120.0));
    ++burst;
  }
  EXPECT_EQ(burst, 11);  // a millisecond at 100 us a packet, and the one that is due
}

TEST(Pacer, WaitingForTheWindowEarnsNoBurst) {
  Pacer pacer;
  pacer.on_sent(milliseconds{0}, 1500, Rate::from_mbps(120.0));
  pacer.on_window_opened(milliseconds{50});
  pacer.on_sent(milliseconds{50}, 1500, Rate::from_mbps(120.0));
  EXPECT_EQ(pacer.next_release(milliseconds{50}), Time{milliseconds{50} + microseconds{100}});
}

TEST(Pacer, ARateOfAlmostNothingStillSendsAPacketASecond) {
  Pacer pacer;
  pacer.on_sent(milliseconds{0}, 1500, Rate::from_mbps(1e-12));
  EXPECT_LE(pacer.next_release(milliseconds{0}), Time{milliseconds{1000}});
}

}  // namespace
}  // namespace ccgym
