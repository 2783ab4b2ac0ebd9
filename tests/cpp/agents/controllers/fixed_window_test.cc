#include "agents/controllers/fixed_window.hh"

#include <gtest/gtest.h>

#include <array>

#include "tests/cpp/transport/events.hh"

namespace ccgym {
namespace {

constexpr int64_t kPacketBytes = 1000;

TEST(FixedWindow, IsTheGivenNumberOfPacketsWithoutPacing) {
  const SendLimits limits = FixedWindow{kPacketBytes, {.cwnd_packets = 40}}.limits();
  EXPECT_EQ(limits.cwnd_bytes, 40'000);
  EXPECT_FALSE(limits.pacing_rate.has_value());
}

TEST(FixedWindow, TakesAFractionOfAPacket) {
  EXPECT_EQ((FixedWindow{kPacketBytes, {.cwnd_packets = 2.5}}.limits().cwnd_bytes), 2500);
}

TEST(FixedWindow, DoesNotMoveOnAcksNorLossesNorTimeouts) {
  FixedWindow controller{kPacketBytes, {.cwnd_packets = 40}};
  const std::array lost{LostPacket{.seq = 1, .bytes = kPacketBytes, .sent_at = {}}};
  report_ack(controller, Time{1}, {.seq = 0, .bytes = kPacketBytes});
  report_losses(controller, Time{2}, {.packets = lost, .inflight_bytes = 0, .timeout = false});
  report_losses(controller, Time{3}, {.packets = lost, .inflight_bytes = 0, .timeout = true});
  EXPECT_EQ(controller.limits().cwnd_bytes, 40'000);
}

}  // namespace
}  // namespace ccgym
