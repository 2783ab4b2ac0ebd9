#include "agents/controllers/fixed_rate.hh"

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

#include "tests/cpp/agents/controllers/scenario.hh"
#include "tests/cpp/transport/events.hh"

namespace ccgym {
namespace {

constexpr int64_t kPacketBytes = 1000;

TEST(FixedRate, PacesAtTheGivenRateWithAWindowThatDoesNotBind) {
  const SendLimits limits = FixedRate{kPacketBytes, {.rate_mbps = 8}}.limits();
  EXPECT_EQ(limits.pacing_rate, Rate::from_mbps(8));
  EXPECT_EQ(limits.cwnd_bytes, 10'000'000);  // ten seconds of 8 Mbit/s
}

TEST(FixedRate, DoesNotMoveOnAcksNorLosses) {
  FixedRate controller{kPacketBytes, {.rate_mbps = 8}};
  const std::array lost{LostPacket{.seq = 1, .bytes = kPacketBytes, .sent_at = {}}};
  report_ack(controller, Time{1}, {.seq = 0, .bytes = kPacketBytes});
  report_losses(controller, Time{2}, {.packets = lost, .inflight_bytes = 0, .timeout = true});
  EXPECT_EQ(controller.limits().pacing_rate, Rate::from_mbps(8));
}

// The pacer waits for a second at most: a lower rate would send faster than it says.
TEST(FixedRate, RefusesLessThanAPacketPerSecond) {
  EXPECT_THROW((FixedRate{kPacketBytes, {.rate_mbps = 0.0079}}), std::invalid_argument);
  EXPECT_EQ((FixedRate{kPacketBytes, {.rate_mbps = 0.008}}.limits().pacing_rate), Rate::from_mbps(0.008));
}

// A data packet is 1436 bytes of payload, 1464 with IP: 6 Mbit/s of payload are 6.12 on the link.
TEST(FixedRate, SendsAtItsRate) { EXPECT_NEAR(run_scenario("rate:6", {}).mbps, 6 * 1464.0 / 1436, 0.1); }

}  // namespace
}  // namespace ccgym
