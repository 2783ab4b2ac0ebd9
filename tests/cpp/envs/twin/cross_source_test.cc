#include "envs/twin/cross_source.hh"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "agents/controllers/fixed_window.hh"
#include "envs/twin/twin.hh"

namespace ccgym {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

CrossTraffic traffic(CrossTrafficKind kind, double rate_mbps) {
  return {.kind = kind,
          .rate_mbps = rate_mbps,
          .mean_on_ms = 100,
          .mean_off_ms = 300,
          .packet_bytes = 1500,
          .start_ms = 0,
          .stop_ms = kNever,
          .seed = 1};
}

int64_t datagrams_before(CrossSource source, int64_t ns) {
  int64_t count = 0;
  for (; source.next_ns() < ns; source.advance()) ++count;
  return count;
}

TEST(CrossSource, AConstantOneComesEvenlySpaced) {
  CrossSource source{traffic(CrossTrafficKind::constant, 12), Timing::continuous};  // 1 ms a datagram
  for (int64_t ms = 0; ms < 5; ++ms, source.advance()) EXPECT_EQ(source.next_ns(), ms * kNsPerMs);
  EXPECT_EQ(source.tun_bytes(), 1504);
}

TEST(CrossSource, MahimahisClockHasWholeMilliseconds) {
  CrossSource source{traffic(CrossTrafficKind::constant, 24), Timing::mahimahi};
  for (const int64_t ms : {0, 0, 1, 1, 2}) {
    EXPECT_EQ(source.next_ns(), ms * kNsPerMs);
    source.advance();
  }
}

TEST(CrossSource, EveryKindHasItsMeanRate) {
  const int64_t end_ns = 1'000'000 * kNsPerMs;  // at 12 Mbit/s a million datagrams
  const auto count = [](CrossTrafficKind kind) {
    return static_cast<double>(datagrams_before({traffic(kind, 12), Timing::continuous}, end_ns));
  };
  EXPECT_NEAR(count(CrossTrafficKind::constant), 1e6, 1);
  EXPECT_NEAR(count(CrossTrafficKind::poisson), 1e6, 5e3);  // five deviations
  // On for a quarter of the time: 2500 on-periods, whose share of the time has a standard deviation of 2.5 %.
  // Each begins with a datagram, so that it has half a datagram more than its length times the rate.
  EXPECT_NEAR(count(CrossTrafficKind::onoff), 0.25e6, 0.02e6);
}

TEST(CrossSource, ItBeginsAndEndsWhenAsked) {
  CrossTraffic spell = traffic(CrossTrafficKind::constant, 12);
  spell.start_ms = 50;
  spell.stop_ms = 60;
  CrossSource source{spell, Timing::continuous};
  EXPECT_EQ(source.next_ns(), 50 * kNsPerMs);
  EXPECT_EQ(datagrams_before(source, kNeverNs), 10);
}

TEST(CrossSources, TakeTheirDatagramsInTurn) {
  CrossTraffic small = traffic(CrossTrafficKind::constant, 0.4);  // 100 bytes every 2 ms
  small.packet_bytes = 100;
  CrossSources sources{std::array{traffic(CrossTrafficKind::constant, 12), small}, Timing::continuous};
  for (const int64_t bytes : {1504, 104, 1504, 1504, 104, 1504}) EXPECT_EQ(sources.take(), bytes);
  EXPECT_EQ(CrossSources({}, Timing::continuous).next_ns(), kNeverNs);
}

TEST(Twin, CrossTrafficTakesItsShareOfTheLink) {
  const LinkSpec link{.schedule = Schedule::constant(12)};
  PathSpec path{.delay_ms = 10, .uplink = link, .downlink = link};
  path.cross_traffic = {traffic(CrossTrafficKind::constant, 6)};
  FixedWindow controller{static_cast<int64_t>(kDataBytes), {.cwnd_packets = 30}};
  Twin<FixedWindow> twin{path, controller, 1};
  twin.run(std::chrono::seconds{10});
  // Half of 10,000 opportunities of 1504 bytes is left to packets of 1468: 5122 less the first round trip.
  EXPECT_NEAR(static_cast<double>(twin.sender(0).delivered_packets()), 5100, 30);
}

TEST(CrossSource, RefusesSojournsThatWouldNotLetTimeGoOn) {
  const CrossTraffic traffic{.kind = CrossTrafficKind::onoff,
                             .rate_mbps = 1,
                             .mean_on_ms = 1e-300,
                             .mean_off_ms = 1e-300,
                             .packet_bytes = 1500};
  EXPECT_THROW((CrossSource{traffic, Timing::continuous}), std::invalid_argument);
}

}  // namespace
}  // namespace ccgym
