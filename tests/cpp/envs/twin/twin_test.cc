#include "envs/twin/twin.hh"

#include <gtest/gtest.h>

#include "envs/twin/simulate.hh"
#include "tests/cpp/transport/recording_controller.hh"

namespace ccgym {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

FlowRecord simulate(const PathSpec& path, const char* scheme, double run_seconds, uint64_t seed) {
  return ccgym::simulate(path, scheme, run_seconds, seed).front();
}

PathSpec path_of(double rate_mbps, double delay_ms, const QueueSpec& queue = {}) {
  const auto schedule = Schedule::constant(rate_mbps);
  return {delay_ms, {schedule, queue, 0}, {schedule, {}, 0}};
}

double throughput_mbps(const FlowRecord& record, double run_seconds) {
  return static_cast<double>(record.delivered_packets) * 1464 * 8 / run_seconds / 1e6;
}

TEST(Twin, TheRoundTripIsTwoDelaysAndTwoOpportunities) {
  RecordingController controller{static_cast<int64_t>(kDataBytes)};
  Twin<CongestionController> twin{path_of(12, 30), controller, 1};
  twin.run(milliseconds{200});
  // Sent at 0, uplink at 1, received at 31, downlink at 61 + 1.
  EXPECT_EQ(controller.acks.at(0).rtt.latest, Time{milliseconds{62}});
  EXPECT_EQ(controller.newest.at(0).received_at, Time{milliseconds{31}});
}

TEST(Twin, TimeNeverGoesBackForTheController) {
  RecordingController controller{40 * static_cast<int64_t>(kDataBytes)};
  PathSpec path = path_of(5, 10, {"droptail", 10});
  path.uplink.loss = 0.05;
  path.stall_probability = 0.05;
  path.stall_max_ms = 5;
  Twin<CongestionController> twin{path, controller, 3};
  twin.run(seconds{5});
  EXPECT_TRUE(std::ranges::is_sorted(controller.times));
  EXPECT_GT(controller.times.size(), 1000U);
}

TEST(Twin, PacketsAreConserved) {
  for (const double loss : {0.0, 0.1}) {
    PathSpec path = path_of(5, 10, {"droptail", 20});
    path.uplink.loss = loss;
    const FlowRecord record = simulate(path, "fixed:60", 10, 1);
    EXPECT_EQ(record.arrival_ms.size(), static_cast<std::size_t>(record.sent_packets));
    EXPECT_LE(record.delivered_packets + record.lost_packets, record.sent_packets);
    EXPECT_GE(record.delivered_packets + record.lost_packets,
              record.sent_packets - 61);  // a window in record
  }
}

TEST(Twin, AWindowOfTheBdpFillsTheLinkAndOneOfHalfOfItHalf) {
  // 20 Mbit/s, 42 ms: 20e6 * 0.042 / 8 / 1468 * 1504 / 1500 = 72 packets.
  EXPECT_NEAR(throughput_mbps(simulate(path_of(20, 20), "fixed:73", 10, 1), 10), 20, 0.3);
  EXPECT_NEAR(throughput_mbps(simulate(path_of(20, 20), "fixed:36", 10, 1), 10), 10, 0.3);
}

TEST(Twin, LossTakesItsShare) {
  PathSpec path = path_of(12, 10);
  path.uplink.loss = 0.05;
  const FlowRecord record = simulate(path, "fixed:20", 60, 5);
  const double share = static_cast<double>(record.lost_packets) / static_cast<double>(record.sent_packets);
  EXPECT_NEAR(share, 0.05, 0.004);  // 50,000 packets: sd 0.001
}

TEST(Twin, SameSeedSameRecord) {
  PathSpec path = path_of(12, 10, {"droptail", 30});
  path.uplink.loss = 0.01;
  path.stall_probability = 0.02;
  path.stall_max_ms = 4;
  const FlowRecord one = simulate(path, "copa", 10, 9);
  const FlowRecord two = simulate(path, "copa", 10, 9);
  EXPECT_EQ(one.departure_ms, two.departure_ms);
  EXPECT_NE(one.departure_ms, simulate(path, "copa", 10, 10).departure_ms);
}

TEST(Twin, AStalledHostAnswersLate) {
  PathSpec path = path_of(12, 10);
  path.stall_probability = 0.1;
  path.stall_max_ms = 4;
  const int64_t calm = simulate(path_of(12, 10), "fixed:22", 10, 1).delivered_packets;
  const int64_t stalled = simulate(path, "fixed:22", 10, 1).delivered_packets;
  EXPECT_LT(stalled, calm);
  EXPECT_GT(stalled, calm / 2);
}

}  // namespace
}  // namespace ccgym
