// One flow over a bottleneck in virtual time: bounds on what the link carries and how long its queue is.
#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "envs/twin/flight.hh"

namespace ccgym {
namespace {

constexpr double kSeconds = 30;
constexpr double kDataPacketBits = 1464 * 8.0;  // IP

struct Scenario {
  std::string scheme;
  double rate_mbps;
  int64_t delay_ms;
  int64_t queue_packets;
  double least_utilisation;
  double most_mean_queueing_ms;
};

void PrintTo(const Scenario& scenario, std::ostream* out) {
  *out << scenario.scheme << " at " << scenario.rate_mbps << " Mbit/s, " << scenario.delay_ms << " ms, "
       << scenario.queue_packets << " packets";
}

class SingleFlow : public testing::TestWithParam<Scenario> {};

double mean_queueing_ms(const Flight& flight) {
  const auto& delays = flight.departure_delay_ms;
  return std::accumulate(delays.begin(), delays.end(), 0.0) / static_cast<double>(delays.size());
}

TEST_P(SingleFlow, UsesTheLinkWithinItsDelay) {
  const Scenario& scenario = GetParam();
  const auto schedule = Schedule::constant(scenario.rate_mbps);
  const QueueSpec queue{QueueKind::droptail, scenario.queue_packets, 0};
  const PathSpec path{static_cast<double>(scenario.delay_ms), {schedule, queue, 0}, {schedule, {}, 0}};
  const Flight flight = fly(path, scenario.scheme, kSeconds, 1).front();
  const double mbps = static_cast<double>(flight.delivered_packets) * kDataPacketBits / kSeconds / 1e6;
  EXPECT_GE(mbps / scenario.rate_mbps, scenario.least_utilisation);
  EXPECT_LE(mbps / scenario.rate_mbps, 1);
  EXPECT_LE(mean_queueing_ms(flight), scenario.most_mean_queueing_ms);
}

// A queue of one BDP: 12 Mbit/s * 42 ms are 42 packets, 50 Mbit/s * 22 ms are 91. It fills in a BDP's time,
// one base RTT, and loss-based schemes keep it between 0 (halved) or 0.4 (Cubic) of it and all.
INSTANTIATE_TEST_SUITE_P(OneBdp, SingleFlow,
                         testing::Values(Scenario{"reno", 12, 20, 42, 0.95, 42},
                                         Scenario{"reno", 50, 10, 91, 0.93, 22},
                                         Scenario{"cubic", 12, 20, 42, 0.95, 42},
                                         Scenario{"cubic", 50, 10, 91, 0.95, 22}));

// A quarter of it: reno's window falls to 1.25 / 2 of the BDP after each loss, a mean of 0.8; Cubic's to
// 0.875 of it.
INSTANTIATE_TEST_SUITE_P(ShallowQueue, SingleFlow,
                         testing::Values(Scenario{"reno", 12, 20, 11, 0.75, 11},
                                         Scenario{"cubic", 12, 20, 11, 0.85, 11}));

}  // namespace
}  // namespace ccgym
