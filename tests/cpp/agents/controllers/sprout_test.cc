#include "agents/controllers/sprout/sprout.hh"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "agents/controllers/sprout/forecast.hh"
#include "tests/cpp/agents/controllers/changing_path.hh"
#include "tests/cpp/agents/controllers/scenario.hh"
#include "tests/cpp/transport/events.hh"

namespace ccgym {
namespace {

using std::chrono::milliseconds;

double total(const RateBelief& belief) {
  return std::accumulate(belief.probabilities().begin(), belief.probabilities().end(), 0.0);
}

double deviation(const RateBelief::Distribution& belief) {
  double mean = 0;
  double square = 0;
  for (std::size_t rate = 0; rate < kSproutRates; ++rate) {
    const double per_second = 50 * RateBelief::packets_per_tick(rate);
    mean += belief[rate] * per_second;
    square += belief[rate] * per_second * per_second;
  }
  return std::sqrt(square - mean * mean);
}

TEST(RateBelief, BeginsWithEveryRateAlike) {
  const RateBelief belief;
  EXPECT_NEAR(total(belief), 1, 1e-12);
  EXPECT_NEAR(belief.mean_packets_per_second(), 500, 1e-9);  // of 0 to 1000
}

// Section 3.1: sigma = 200 packets/s per sqrt(s): in four ticks of 20 ms, 200 * sqrt(0.08) = 56.6 packets/s.
TEST(RateBelief, SpreadsByBrownianMotion) {
  RateBelief::Distribution belief{};
  belief[128] = 1;
  for (int tick = 0; tick < 4; ++tick) RateBelief::evolve(belief);
  EXPECT_NEAR(deviation(belief), 56.6, 0.6);
  EXPECT_NEAR(std::accumulate(belief.begin(), belief.end(), 0.0), 1, 1e-5);
}

// Section 3.1: an outage ends at a rate of 1 per second. In a tick, e^-0.02 = 0.9802 stay; of the rest, half
// of the normal distribution (and half of its middle step) is cut off at zero and stays too.
TEST(RateBelief, StaysInAnOutage) {
  RateBelief::Distribution belief{};
  belief[0] = 1;
  RateBelief::evolve(belief);
  EXPECT_NEAR(belief[0], 0.9802 + 0.0198 * 0.5275, 1e-3);
}

TEST(RateBelief, LearnsTheRateOfAPoissonProcess) {
  RateBelief belief;
  for (int tick = 0; tick < 50; ++tick) {
    belief.evolve();
    belief.observe(6);  // 300 packets/s
  }
  EXPECT_NEAR(belief.mean_packets_per_second(), 300, 15);
  EXPECT_LT(deviation(belief.probabilities()), 80);
  EXPECT_NEAR(total(belief), 1, 1e-9);
}

TEST(RateBelief, TakesACountThatNoRateExplainsForTheHighest) {
  RateBelief exact;
  RateBelief bound;
  exact.observe(5000);
  bound.observe_at_least(5000);
  EXPECT_NEAR(total(exact), 1, 1e-9);
  EXPECT_GT(exact.mean_packets_per_second(), 850);
  EXPECT_GT(bound.mean_packets_per_second(), 850);
}

TEST(RateBelief, TakesACountWithoutABacklogForALowerBound) {
  RateBelief exact;
  RateBelief bound;
  for (int tick = 0; tick < 50; ++tick) {
    exact.evolve();
    bound.evolve();
    exact.observe(2);
    bound.observe_at_least(2);
  }
  EXPECT_NEAR(exact.mean_packets_per_second(), 100, 30);
  EXPECT_GT(bound.mean_packets_per_second(), 400);
}

// If the rate is certainly r, the count of a tick is Poisson(r tick), spread a little by the evolution.
// At 502 packets/s the mean is 10.04 a tick; P(N <= 4) = 0.029, P(N <= 5) = 0.067 for a plain Poisson.
TEST(CautiousForecast, IsTheFifthPercentileOfTheCount) {
  RateBelief::Distribution belief{};
  belief[128] = 1;
  EXPECT_EQ(cautious_forecast(belief)[0], 5);
}

TEST(CautiousForecast, NeverFallsOverTheTicksAndStaysBelowTheMean) {
  RateBelief::Distribution belief{};
  belief[128] = 1;
  const Forecast forecast = cautious_forecast(belief);
  for (std::size_t tick = 0; tick < kForecastTicks; ++tick) {
    EXPECT_LT(forecast.at(tick), 10.04 * static_cast<double>(tick + 1));
  }
  EXPECT_TRUE(std::ranges::is_sorted(forecast));
  EXPECT_GT(forecast.back(), 0.7 * 8 * 10.04);
}

TEST(CautiousForecast, PromisesNothingInAnOutage) {
  RateBelief::Distribution belief{};
  belief[0] = 1;
  EXPECT_EQ(cautious_forecast(belief).back(), 0);
}

TEST(Sprout, TicksEveryTwentyMillisecondsFromTheFirstAckOn) {
  Sprout sprout{1000};
  EXPECT_FALSE(sprout.next_timer());
  sprout.on_sent(Time{}, {.seq = 0});
  report_ack(sprout, milliseconds{40},
             {.seq = 0, .rtt = {.latest = milliseconds{40}, .min = milliseconds{40}}});
  EXPECT_EQ(sprout.next_timer(), Time{milliseconds{60}});
  sprout.on_timer(milliseconds{60}, {});
  EXPECT_EQ(sprout.next_timer(), Time{milliseconds{80}});
}

TEST(Sprout, TakesSilenceForAnOutageOnlyWhilePacketsAreOverdue) {
  Sprout idle{1000};
  Sprout waiting{1000};
  for (Sprout* sprout : {&idle, &waiting}) {
    sprout->on_sent(Time{}, {.seq = 0});
    report_ack(*sprout, milliseconds{40},
               {.seq = 0, .rtt = {.latest = milliseconds{40}, .min = milliseconds{40}}});
  }
  waiting.on_sent(milliseconds{41}, {.seq = 1});
  for (int ms = 60; ms <= 400; ms += 20) {
    idle.on_timer(milliseconds{ms}, {});
    waiting.on_timer(milliseconds{ms}, {});
  }
  EXPECT_GT(idle.belief().mean_packets_per_second(), 300);
  EXPECT_LT(waiting.belief().mean_packets_per_second(), 30);
}

// Section 5: high throughput, and 95 % of the time a queue that drains within 100 ms.
TEST(SproutRun, FillsTheLinkWithinItsDelayBound) {
  const Measured measured = run_scenario("sprout", {.rate_mbps = 6, .delay_ms = 20});
  EXPECT_GT(measured.mbps, 0.9 * 6);
  EXPECT_LT(measured.p95_delay_ms, 20 + 100);
}

// The one-way delay rises from 20 ms to 40: not a backlog, once the window of the min RTT has passed.
TEST(SproutRun, FillsALinkWhosePathHasBecomeLonger) {
  FlowOnChangingPath flow{
      "sprout",
      {.rate_mbps = [](double) { return 6.0; }, .delay_ms = [](double s) { return s < 20 ? 20.0 : 40.0; }}};
  flow.run_until(35);
  EXPECT_GT(flow.mbps_until(50), 0.8 * 6);
}

}  // namespace
}  // namespace ccgym
