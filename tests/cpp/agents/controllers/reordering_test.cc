// A path that delays packets at random by up to 20 ms, as balancing over several links or a radio's
// retransmissions do: ten overtake another at 8 Mbit/s, and none is lost.
#include <gtest/gtest.h>

#include "tests/cpp/agents/controllers/changing_path.hh"

namespace ccgym {
namespace {

class ReorderingPath : public testing::TestWithParam<const char*> {};

TEST_P(ReorderingPath, CripplesNobodyForEver) {
  FlowOnChangingPath flow{GetParam(), {.max_jitter_ms = 20}};
  flow.run_until(10);
  EXPECT_GT(flow.mbps_until(30), 0.8 * 8) << flow.sender().lost_packets() << " packets lost";
}

// Packets that are late by up to 60 ms do not end startup: 30 Mbit/s, RTT 80 ms.
TEST(Bbr3OnReorderingPath, FillsItWithinItsFirstSeconds) {
  FlowOnChangingPath flow{"bbr3",
                          {.rate_mbps = [](double) { return 30.0; },
                           .delay_ms = [](double) { return 40.0; },
                           .queue_packets = 400,
                           .max_jitter_ms = 60}};
  EXPECT_GT(flow.mbps_until(5), 0.75 * 30);
}

INSTANTIATE_TEST_SUITE_P(Schemes, ReorderingPath,
                         testing::Values("reno", "cubic", "dctcp", "ledbat", "bbr", "bbr3", "scream"));

}  // namespace
}  // namespace ccgym
