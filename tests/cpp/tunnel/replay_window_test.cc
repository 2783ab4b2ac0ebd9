#include "tunnel/replay_window.hh"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "tunnel/uid.hh"

namespace ccgym::tunnel {
namespace {

TEST(ReplayWindow, HearsEveryUidOnce) {
  ReplayWindow window;
  for (const uint64_t uid : {3U, 0U, 2U, 1U, 200U, 64U}) {
    EXPECT_FALSE(window.heard(uid)) << uid;
    window.mark(uid);
    EXPECT_TRUE(window.heard(uid)) << uid;
  }
  EXPECT_EQ(window.next(), 201U);
  EXPECT_FALSE(window.heard(4));
  EXPECT_FALSE(window.heard(201));
}

TEST(ReplayWindow, TakesWhatIsTooOldForHeard) {
  ReplayWindow window;
  window.mark(ReplayWindow::kReach + 10);
  EXPECT_TRUE(window.heard(10));
  EXPECT_FALSE(window.heard(11));
}

// Compared with a set of all UIDs; with jumps of every size up to beyond the window.
TEST(ReplayWindow, AgreesWithASet) {
  std::mt19937_64 random{1};
  ReplayWindow window;
  std::set<uint64_t> heard;
  uint64_t highest = 0;
  for (int i = 0; i < 50'000; ++i) {
    const uint64_t jump = random() % 200 == 0 ? random() % 20'000 : random() % 3;
    const bool late = random() % 3 == 0;
    const uint64_t uid = late ? highest - std::min(highest, random() % 9000) : highest + jump;
    const bool expected =
        heard.contains(uid) || highest + 1 - std::min(uid, highest + 1) > ReplayWindow::kReach;
    ASSERT_EQ(window.heard(uid), expected) << uid << " after " << highest;
    if (expected) continue;
    window.mark(uid);
    heard.insert(uid);
    highest = std::max(highest, uid);
  }
}

TEST(WireUid, IsRestoredWithinHalfTheRangeOfTheNext) {
  const uint64_t half = kWireUids / 2;
  for (const uint64_t uid : {uint64_t{0}, uint64_t{5}, kWireUids - 1, kWireUids, 7 * kWireUids + 3})
    for (const uint64_t next : {uid, uid + 1, uid + half - 1, uid - std::min(uid, half - 1)})
      EXPECT_EQ(nearest_uid(next, uid & (kWireUids - 1)), uid) << uid << " next to " << next;
}

}  // namespace
}  // namespace ccgym::tunnel
