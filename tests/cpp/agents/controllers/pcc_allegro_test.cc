#include "agents/controllers/pcc/allegro.hh"

#include <gtest/gtest.h>

#include <set>

#include "tests/cpp/agents/controllers/scenario.hh"

namespace ccgym {
namespace {

// The result of an interval of 1000 packets on a link of `capacity_mbps` without a queue, which drops the
// excess.
MonitorInterval result_of(const RateLearner::Trial& trial, double capacity_mbps) {
  const double share = std::min(1.0, capacity_mbps / trial.rate_mbps);
  MonitorInterval result{.trial = trial.id, .rate_mbps = trial.rate_mbps, .sent = 1000, .closed = true};
  result.acked = static_cast<int64_t>(1000 * share);
  result.lost = result.sent - result.acked;
  return result;
}

// Section 2.2, alpha = 100: Sigmoid(0.05 - 0.05) = 1/2, Sigmoid(-0.05) = 1 / (1 + e^-5) = 0.99331.
TEST(Allegro, HasTheUtilityOfThePaper) {
  EXPECT_NEAR(Allegro::loss_utility(10, 0), 9.9331, 1e-4);
  EXPECT_NEAR(Allegro::loss_utility(10, 0.05), 10 * 0.95 / 2 - 10 * 0.05, 1e-9);
  EXPECT_NEAR(Allegro::loss_utility(10, 0.2), -2, 1e-4);  // beyond the cap nothing but the penalty is left
}

// At RTT 50 ms: S' = 1/2 when it was 50 ms before, 1 / (1 + e^(10 * 0.2)) = 0.11920 when it was 40 ms.
TEST(Allegro, HasTheLatencyUtilityOfTheReleasedSender) {
  EXPECT_NEAR(Allegro::latency_utility(10, 0, 0.05, 0.05), 9.9331 / 2 / 0.05, 1e-2);
  EXPECT_NEAR(Allegro::latency_utility(10, 0, 0.05, 0.04), 9.9331 * 0.11920 / 0.05, 1e-2);
  EXPECT_NEAR(Allegro::latency_utility(10, 0.2, 0.05, 0.05), -2 / 0.05, 1e-2);
}

TEST(Allegro, DoublesUntilTheUtilityFallsAndFallsBackToTheBestRate) {
  Allegro learner{{.utility = Allegro::Utility::loss}, 1};
  learner.start(1);
  for (const double rate : {1, 2, 4, 8}) {
    const RateLearner::Trial trial = learner.next();
    EXPECT_EQ(trial.rate_mbps, rate);
    EXPECT_FALSE(learner.learn(result_of(trial, 10)));
  }
  EXPECT_TRUE(learner.learn(result_of(learner.next(), 10)));  // 16 Mbit/s: 37 % lost
  EXPECT_EQ(learner.rate_mbps(), 8);
}

// Results come an RTT late, so that the doubled rate is used for two intervals; the second result is ignored.
TEST(Allegro, HoldsTheRateInItsStartWhileAnswersAreOut) {
  Allegro learner{{.utility = Allegro::Utility::loss}, 1};
  learner.start(1);
  const RateLearner::Trial first = learner.next();
  const RateLearner::Trial second = learner.next();
  const RateLearner::Trial held = learner.next();
  EXPECT_EQ(held.rate_mbps, second.rate_mbps);
  for (const RateLearner::Trial& trial : {first, second, held})
    EXPECT_FALSE(learner.learn(result_of(trial, 10)));
  EXPECT_EQ(learner.next().rate_mbps, 4);
}

class AllegroDecision : public testing::Test {
 protected:
  void SetUp() override {
    learner_.start(4);
    learner_.learn(result_of(learner_.next(), 6));
    learner_.learn(result_of(learner_.next(), 6));  // 8 Mbit/s: back to 4
    ASSERT_EQ(learner_.rate_mbps(), 4);
  }
  Allegro learner_{{.utility = Allegro::Utility::loss}, 1};
};

// Section 3.2: four intervals in two pairs, each r (1 + 0.01) and r (1 - 0.01), then r until they are known.
TEST_F(AllegroDecision, TriesTwoPairsOfRatesAround) {
  for (int pair = 0; pair < 2; ++pair) {
    std::set<double> rates{learner_.next().rate_mbps, learner_.next().rate_mbps};
    EXPECT_EQ(rates, (std::set<double>{4 * 0.99, 4 * 1.01}));
  }
  EXPECT_EQ(learner_.next().rate_mbps, 4);
}

TEST_F(AllegroDecision, MovesWithGrowingStepsWhileTheUtilityRises) {
  std::array<RateLearner::Trial, 4> trials{learner_.next(), learner_.next(), learner_.next(),
                                           learner_.next()};
  for (const auto& trial : trials) learner_.learn(result_of(trial, 100));
  // r (1 + epsilon), then at once the first step: r_1 = r_0 (1 + 1 * 0.01).
  double rate = 4 * 1.01 * 1.01;
  EXPECT_NEAR(learner_.rate_mbps(), rate, 1e-9);
  for (int n = 2; n < 6; ++n) {
    EXPECT_TRUE(learner_.learn(result_of(learner_.next(), 100)));
    rate *= 1 + n * 0.01;
    EXPECT_NEAR(learner_.rate_mbps(), rate, 1e-9);
  }
  const double before = learner_.rate_mbps() / 1.05;
  EXPECT_TRUE(learner_.learn(result_of(learner_.next(), 2)));  // now it falls: back by one step
  EXPECT_NEAR(learner_.rate_mbps(), before, 1e-9);
}

// A pair that contradicts the other one: r stays, epsilon grows by 0.01.
TEST_F(AllegroDecision, TriesLargerStepsWhenThePairsDisagree) {
  for (int pair = 0; pair < 2; ++pair) {
    for (int half = 0; half < 2; ++half) {
      const RateLearner::Trial trial = learner_.next();
      const bool lossy = (trial.rate_mbps > 4) == (pair == 0);
      learner_.learn(result_of(trial, lossy ? 2 : 100));
    }
  }
  EXPECT_EQ(learner_.rate_mbps(), 4);
  std::set<double> rates{learner_.next().rate_mbps, learner_.next().rate_mbps};
  EXPECT_EQ(rates, (std::set<double>{4 * 0.98, 4 * 1.02}));
}

// Section 4.1.3 and figure 7: more than 95 % of the capacity at a random loss of 1 %, where TCP collapses.
TEST(AllegroRun, KeepsItsRateUnderRandomLossAndRenoDoesNot) {
  const Scenario lossy{.queue_packets = 60, .loss = 0.01};
  EXPECT_GT(run_scenario("allegro:loss", lossy).mbps, 0.95 * 12);
  EXPECT_LT(run_scenario("reno", lossy).mbps, 0.6 * 12);
}

// Section 2.2: the loss cap permits a loss of a few percent.
TEST(AllegroRun, LosesNoMoreThanItsCapOnAShallowQueue) {
  const Measured measured = run_scenario("allegro:loss", {.queue_packets = 60});
  EXPECT_GT(measured.mbps, 0.95 * 12);
  EXPECT_LT(measured.lost_share, 0.05);
}

// A tick of 1 ms more in 60 takes e^(10/60), a sixth, of S' / (1 - S'): a few steps of 1 % are lost in it.
TEST(AllegroRun, KeepsAShorterQueueWithTheLatencyUtility) {
  const Scenario bottomless{.seconds = 30};
  const Measured latency = run_scenario("allegro", bottomless);
  EXPECT_LT(4 * latency.p95_delay_ms, run_scenario("allegro:loss", bottomless).p95_delay_ms);
  EXPECT_GT(latency.mbps, 0.8 * 12);
}

}  // namespace
}  // namespace ccgym
