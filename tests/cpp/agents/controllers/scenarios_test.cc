// One flow over a bottleneck in virtual time: bounds on what the link carries and how long its queue is.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "envs/twin/simulate.hh"

namespace ccgym {
namespace {

constexpr double kSeconds = 30;
constexpr double kDataPacketBits = 1464 * 8.0;  // IP

struct Scenario {
  std::string scheme;
  double rate_mbps;
  double delay_ms;
  int64_t queue_packets;
  double least_utilisation;
  double most_mean_queueing_ms;
  double most_utilisation{1};
  Timing timing{Timing::mahimahi};
};

void PrintTo(const Scenario& scenario, std::ostream* out) {
  *out << scenario.scheme << " at " << scenario.rate_mbps << " Mbit/s, " << scenario.delay_ms << " ms, "
       << scenario.queue_packets << " packets";
}

PathSpec path_of(double rate_mbps, double delay_ms, int64_t queue_packets) {
  const auto schedule = Schedule::constant(rate_mbps);
  return {delay_ms, {schedule, {"droptail", queue_packets}, 0}, {schedule, {}, 0}};
}

class SingleFlow : public testing::TestWithParam<Scenario> {};

double mean_queueing_ms(const FlowRecord& record) {
  const auto& delays = record.departure_delay_ms;
  return std::accumulate(delays.begin(), delays.end(), 0.0) / static_cast<double>(delays.size());
}

TEST_P(SingleFlow, UsesTheLinkWithinItsDelay) {
  const Scenario& scenario = GetParam();
  PathSpec path = path_of(scenario.rate_mbps, scenario.delay_ms, scenario.queue_packets);
  path.timing = scenario.timing;
  const FlowRecord record = simulate(path, scenario.scheme, kSeconds, 1).front();
  const double mbps = static_cast<double>(record.delivered_packets) * kDataPacketBits / kSeconds / 1e6;
  EXPECT_GE(mbps / scenario.rate_mbps, scenario.least_utilisation);
  EXPECT_LE(mbps / scenario.rate_mbps, scenario.most_utilisation);
  EXPECT_LE(mean_queueing_ms(record), scenario.most_mean_queueing_ms);
}

// A queue of one BDP: 12 Mbit/s * 42 ms are 42 packets, 50 Mbit/s * 22 ms are 91. It fills in a BDP's time,
// one base RTT, and loss-based schemes keep it between 0 (halved) or 0.4 (Cubic) of it and all.
INSTANTIATE_TEST_SUITE_P(
    OneBdp, SingleFlow,
    testing::Values(Scenario{"reno", 12, 20, 42, 0.95, 42}, Scenario{"reno", 50, 10, 91, 0.93, 22},
                    Scenario{"cubic", 12, 20, 42, 0.95, 42}, Scenario{"cubic", 50, 10, 91, 0.95, 22},
                    Scenario{"bbr", 12, 20, 42, 0.93, 25}, Scenario{"bbr", 50, 10, 91, 0.90, 12},
                    Scenario{"bbr3", 12, 20, 42, 0.90, 21}, Scenario{"bbr3", 50, 10, 91, 0.90, 11}));

// Delay-based schemes keep the queue short although it has room for ten BDP: Vegas at four packets, a
// millisecond each at 12 Mbit/s; LEDBAT at its target, 100 ms.
INSTANTIATE_TEST_SUITE_P(DeepQueue, SingleFlow,
                         testing::Values(Scenario{"vegas", 12, 20, 420, 0.95, 10},
                                         Scenario{"vegas", 50, 10, 910, 0.90, 10},
                                         Scenario{"bbr", 12, 20, 420, 0.93, 35},
                                         Scenario{"bbr3", 12, 20, 420, 0.90, 35},
                                         Scenario{"ledbat", 12, 20, 420, 0.95, 105}));

// Copa holds about 1/delta = 2 packets and its oscillation of five round trips, a millisecond each at
// 12 Mbit/s, where time is exact.
INSTANTIATE_TEST_SUITE_P(CopaInExactTime, SingleFlow,
                         testing::Values(Scenario{"copa", 12, 20, 420, 0.95, 5, 1, Timing::continuous},
                                         Scenario{"copa", 50, 10, 910, 0.95, 2, 1, Timing::continuous}));

// mahimahi's clock of a millisecond is longer than those two packets take on fast links: Copa yields to a
// queue of ticks. The authors' own program carried 0.74 to 0.91 of 12 Mbit/s, 0.71 to 0.93 of 46 and 0.34 to
// 0.86 of 100, with a p95 queue of 17, 11 and 5 ms at most.
INSTANTIATE_TEST_SUITE_P(CopaInTicks, SingleFlow,
                         testing::Values(Scenario{"copa", 12, 20, 420, 0.74, 17, 0.95},
                                         Scenario{"copa", 46, 10, 76, 0.71, 5, 0.93},
                                         Scenario{"copa", 100, 27, 1730, 0.6, 5, 0.9}));

// A quarter of it: reno's window falls to 1.25 / 2 of the BDP after each loss, a mean of 0.8; Cubic's to
// 0.875 of it.
INSTANTIATE_TEST_SUITE_P(ShallowQueue, SingleFlow,
                         testing::Values(Scenario{"reno", 12, 20, 11, 0.75, 11},
                                         Scenario{"cubic", 12, 20, 11, 0.85, 11}));

class TwoFlows : public testing::TestWithParam<const char*> {};

// The second flow joins after five seconds; in the last twenty seconds each has a quarter of the link or
// more.
TEST_P(TwoFlows, OfOneSchemeShareALink) {
  PathSpec path = path_of(12, 20, 42);
  path.flows = {{.scheme = GetParam()}, {.scheme = GetParam(), .start_s = 5}};
  const std::vector<FlowRecord> records = simulate(path, "", kSeconds, 1);
  std::array<double, 2> packets{};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto late = [](double ms) { return ms > 10e3; };
    packets.at(i) = static_cast<double>(std::ranges::count_if(records[i].departure_ms, late));
  }
  EXPECT_GT(std::min(packets[0], packets[1]) / (packets[0] + packets[1]), 0.25);
  EXPECT_GT((packets[0] + packets[1]) * kDataPacketBits / 20e6 / 12, 0.9);
}

INSTANTIATE_TEST_SUITE_P(Schemes, TwoFlows, testing::Values("reno", "cubic", "bbr", "bbr3", "vegas", "copa"));

}  // namespace
}  // namespace ccgym
