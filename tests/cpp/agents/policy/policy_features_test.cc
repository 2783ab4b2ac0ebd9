#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "agents/policy/policy.hh"
#include "tests/cpp/transport/events.hh"

namespace ccgym {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr int64_t kBytes = 1000;

OneAck ack_of(Time sent_at, Time now, int64_t delivered, Time ack_interval, int64_t sent_since) {
  OneAck packet{.bytes = kBytes, .sent_at = sent_at, .next_seq = static_cast<uint64_t>(sent_since / kBytes)};
  packet.rtt = {now - sent_at, now - sent_at, std::min(now - sent_at, Time{milliseconds{50}})};
  packet.rate.delivered_bytes = delivered;
  packet.rate.ack_interval = ack_interval;
  return packet;
}

TEST(IndigoFeatures, FirstAckOfAStepSetsItsAverages) {
  Features features{FeatureSet::indigo, kBytes, 0.5};
  std::array<float, 9> seen{};
  report_ack(features, milliseconds{50},
             ack_of(milliseconds{0}, milliseconds{50}, 5000, milliseconds{50}, 10'000));
  features.observe(milliseconds{60}, {.cwnd_packets = 10}, seen);
  EXPECT_FLOAT_EQ(seen[0], 0);                           // the first RTT is the least
  EXPECT_FLOAT_EQ(seen[1], 0.008F * 5000 / 50 / 200);    // 0.8 Mbit/s
  EXPECT_FLOAT_EQ(seen[2], 0.008F * 10'000 / 50 / 200);  // 1.6 Mbit/s
  EXPECT_FLOAT_EQ(seen[3], 10.0F / 5000);
  EXPECT_EQ((std::array{seen[4], seen[5], seen[6], seen[7], seen[8]}), (std::array{0.F, 0.F, 0.F, 0.F, 1.F}));
}

TEST(IndigoFeatures, LaterAcksWeighAnEighthAndTheNextStepBeginsAnew) {
  Features features{FeatureSet::indigo, kBytes, 0.5};
  std::array<float, 9> seen{};
  report_ack(features, milliseconds{50},
             ack_of(milliseconds{0}, milliseconds{50}, 5000, milliseconds{50}, 5000));
  report_ack(features, milliseconds{58},
             ack_of(milliseconds{0}, milliseconds{58}, 5800, milliseconds{58}, 5800));
  features.on_action(1);
  features.observe(milliseconds{60}, {.cwnd_packets = 20}, seen);
  EXPECT_FLOAT_EQ(seen[0], 0.125F * 8 / 200);
  EXPECT_FLOAT_EQ(seen[5], 1);
  features.observe(milliseconds{70}, {.cwnd_packets = 20}, seen);
  EXPECT_FLOAT_EQ(seen[0], 0);
  EXPECT_FLOAT_EQ(seen[1], 0);
}

TEST(IndigoFeatures, ClockIsWholeMilliseconds) {
  Features features{FeatureSet::indigo, kBytes, 0.5};
  std::array<float, 9> seen{};
  report_ack(features, microseconds{50'900},
             ack_of(microseconds{900}, microseconds{50'900}, 1000, milliseconds{50}, 1000));
  report_ack(features, microseconds{61'000},
             ack_of(microseconds{10'999}, microseconds{61'000}, 1000, milliseconds{50}, 1000));
  features.observe(milliseconds{61}, {.cwnd_packets = 10}, seen);
  EXPECT_FLOAT_EQ(seen[0], 0.125F * 1 / 200);  // 50 - 0, then 61 - 10: one millisecond more
}

TEST(ScaleFreeFeatures, AreTheSameOnALinkTenTimesAsFastWithTenTimesTheWindow) {
  std::array<float, 32> slow{};
  std::array<float, 32> fast{};
  for (const int scale : {1, 10}) {
    Features features{FeatureSet::scale_free, kBytes, 0.5};
    for (int i = 0; i < 10 * scale; ++i) {
      OneAck packet =
          ack_of(milliseconds{0}, milliseconds{60}, 20'000 * scale, milliseconds{60}, 30'000 * scale);
      packet.inflight_bytes = 20'000 * scale - kBytes;
      report_ack(features, milliseconds{60}, packet);
    }
    features.observe(milliseconds{60}, {.cwnd_packets = 20.0 * scale}, scale == 1 ? slow : fast);
  }
  for (std::size_t i = 1; i < slow.size(); ++i)
    EXPECT_NEAR(slow[i], fast[i], 1e-5) << "feature " << i;  // 0: the window
  EXPECT_NEAR(fast[0] - slow[0], std::log(10) / 5, 1e-5);
}

// A packet waits 30 ms at the link; the ACKs wait on their own way back, first none, then 40 ms.
TEST(ScaleFreeFeatures, TellTheQueueOfTheDataFromThatOfTheAcks) {
  Features features{FeatureSet::scale_free, kBytes, 0.25};
  std::array<float, 32> seen{};
  const auto ack = [&features](int sent, int received, int acked) {
    OneAck packet =
        ack_of(milliseconds{sent}, milliseconds{acked}, 10'000, milliseconds{acked - sent}, 10'000);
    packet.received_at = milliseconds{received};
    report_ack(features, milliseconds{acked}, packet);
  };
  ack(0, 25, 50);
  features.observe(milliseconds{60}, {.cwnd_packets = 10}, seen);
  EXPECT_FLOAT_EQ(seen[20], 0);
  ack(10, 65, 130);
  features.observe(milliseconds{140}, {.cwnd_packets = 10}, seen);
  EXPECT_FLOAT_EQ(seen[20], static_cast<float>(std::log1p(30.0 / 10) / 3)) << "mean of the step";
  EXPECT_FLOAT_EQ(seen[21], seen[20]) << "of the latest packet";
  EXPECT_FLOAT_EQ(seen[29], 0.25F) << "the preference";
}

TEST(ScaleFreeFeatures, TellWhatTheCompanionDoes) {
  Features features{FeatureSet::scale_free, kBytes, 0.5};
  std::array<float, 32> seen{};
  features.observe(milliseconds{10}, {.cwnd_packets = 10, .probes = true}, seen);
  EXPECT_EQ((std::array{seen[27], seen[28]}), (std::array{1.F, 0.F}));
  features.observe(milliseconds{20}, {.cwnd_packets = 10, .sees_others = true}, seen);
  EXPECT_EQ((std::array{seen[27], seen[28]}), (std::array{0.F, 1.F}));
}

TEST(ScaleFreeFeatures, StayFiniteAndBoundedWhateverComes) {
  Features features{FeatureSet::scale_free, kBytes, 0.5};
  std::array<float, 32> seen{};
  const std::array<LostPacket, 2> lost{LostPacket{}, LostPacket{.bytes = 1000}};
  features.observe(milliseconds{0}, {.cwnd_packets = 2}, seen);
  features.on_loss(lost);
  features.observe(milliseconds{0}, {.cwnd_packets = 1e6}, seen);
  report_ack(features, milliseconds{1}, ack_of(milliseconds{1}, milliseconds{1}, 0, Time{}, 0));
  features.observe(milliseconds{1}, {.cwnd_packets = 1e6}, seen);
  for (const float value : seen) {
    EXPECT_TRUE(std::isfinite(value));
    EXPECT_LE(std::abs(value), 4.0F);
  }
}

TEST(RawFeatures, TellWhatWasMeasuredInTheStep) {
  Features features{FeatureSet::raw, kBytes, 0.5};
  std::array<float, RawFeatures::kNames.size()> seen{};
  const auto at = [&seen](std::string_view name) {
    return seen[static_cast<std::size_t>(std::ranges::find(RawFeatures::kNames, name) -
                                         RawFeatures::kNames.begin())];
  };
  const std::array lost{LostPacket{.bytes = kBytes}};
  OneAck packet = ack_of(milliseconds{0}, milliseconds{50}, 5000, milliseconds{50}, 10'000);
  packet.received_at = milliseconds{30};
  packet.inflight_bytes = 7000;
  report_ack(features, milliseconds{50}, packet);
  features.on_loss(lost);
  features.observe(milliseconds{60}, {.cwnd_packets = 12}, seen);
  EXPECT_FLOAT_EQ(at("time_ms"), 60);
  EXPECT_FLOAT_EQ(at("acks"), 1);
  EXPECT_FLOAT_EQ(at("acked_bytes"), kBytes);
  EXPECT_FLOAT_EQ(at("lost_packets"), 1);
  EXPECT_FLOAT_EQ(at("mean_rtt_ms"), 50);
  EXPECT_FLOAT_EQ(at("least_one_way_ms"), 30);
  EXPECT_FLOAT_EQ(at("delivery_rate_mbps"), 0.8F);
  EXPECT_FLOAT_EQ(at("send_rate_mbps"), 1.6F);
  EXPECT_FLOAT_EQ(at("inflight_packets"), 7);
  EXPECT_FLOAT_EQ(at("window_packets"), 12);
  features.observe(milliseconds{80}, {.cwnd_packets = 12}, seen);
  EXPECT_FLOAT_EQ(at("step_ms"), 20);
  EXPECT_FLOAT_EQ(at("acks"), 0);
  EXPECT_FLOAT_EQ(at("lost_packets"), 0);
  EXPECT_FLOAT_EQ(at("last_rtt_ms"), 50);
}

// Two steps: 60 ms at twice the delivery rate, then 70 ms; the least round trip is 50 ms.
TEST(AuroraFeatures, TellGradientLatencyRatioAndSendRatioTheNewestLast) {
  Features features{FeatureSet::aurora, kBytes, 0.5};
  std::array<float, 30> seen{};
  report_ack(features, milliseconds{60},
             ack_of(milliseconds{0}, milliseconds{60}, 6000, milliseconds{60}, 12'000));
  features.observe(milliseconds{70}, {.cwnd_packets = 10}, seen);
  EXPECT_FLOAT_EQ(seen[24], 0);
  EXPECT_FLOAT_EQ(seen[25], 0.5F);  // nothing was known before
  EXPECT_FLOAT_EQ(seen[26], 0.5F);
  EXPECT_FLOAT_EQ(seen[27], 0);
  EXPECT_FLOAT_EQ(seen[28], 60.0F / 50 / 2);
  EXPECT_FLOAT_EQ(seen[29], 2.0F / 2);
  report_ack(features, milliseconds{80},
             ack_of(milliseconds{10}, milliseconds{80}, 7000, milliseconds{70}, 7000));
  features.observe(milliseconds{80}, {.cwnd_packets = 10}, seen);
  EXPECT_FLOAT_EQ(seen[25], 60.0F / 50 / 2);
  EXPECT_FLOAT_EQ(seen[27], 1);  // 10 ms more in 10 ms
  EXPECT_FLOAT_EQ(seen[28], 70.0F / 50 / 2);
  EXPECT_FLOAT_EQ(seen[29], 1.0F / 2);
  features.observe(milliseconds{1080}, {.cwnd_packets = 10}, seen);
  EXPECT_FLOAT_EQ(seen[27], 0);  // silence: both ratios stay
  EXPECT_FLOAT_EQ(seen[28], 70.0F / 50 / 2);
}

TEST(FeatureSets, AnUnknownNameListsTheKnownOnes) {
  EXPECT_THROW(
      {
        try {
          feature_set_by_name("vision");
        } catch (const std::invalid_argument& error) {
          EXPECT_STREQ(error.what(),
                       "unknown feature set 'vision': known are indigo, scale_free, aurora, raw");
          throw;
        }
      },
      std::invalid_argument);
}

// A policy without a network, which waits for the actions of the test.
struct PolicyFlow {
  explicit PolicyFlow(PolicySpec spec) : policy(spec, {.packet_bytes = kBytes, .seed = 1}) {}
  void ack(Time now) { report_ack(policy, now, ack_of(Time{}, now, 1000, now, 1000)); }
  PolicyController policy;
};

TEST(PolicyController, AsksOneStepAfterTheFirstAck) {
  PolicyFlow flow{{}};
  flow.policy.on_sent(milliseconds{0}, {});
  flow.ack(milliseconds{42});
  ASSERT_EQ(flow.policy.next_timer(), Time{milliseconds{52}});
  EXPECT_FALSE(flow.policy.awaiting_action());
  flow.policy.on_timer(milliseconds{52}, {});
  EXPECT_TRUE(flow.policy.awaiting_action());
  EXPECT_FALSE(flow.policy.next_timer().has_value());
}

// The window after an action, while the application limits the flow.
double window_after(ActionSet actions, float action) {
  PolicyFlow flow{{.actions = actions}};
  flow.policy.on_sent(milliseconds{0}, {});
  OneAck unused = ack_of(Time{}, milliseconds{42}, 1000, milliseconds{42}, 1000);
  unused.limited_by = Limit::application;
  report_ack(flow.policy, milliseconds{42}, unused);
  flow.policy.on_timer(milliseconds{52}, {});
  flow.policy.act(action);
  return flow.policy.cwnd_packets();
}

// RFC 9002, section 7.8.
TEST(PolicyController, AWindowThatTheApplicationDoesNotUseShrinksButDoesNotGrow) {
  EXPECT_EQ(window_after(ActionSet::log_window, 0.5F), 10);
  EXPECT_NEAR(window_after(ActionSet::log_window, -0.5F), 10 * std::exp(-0.5), 1e-6);
  EXPECT_EQ(window_after(ActionSet::indigo, 4), 10);
  EXPECT_EQ(window_after(ActionSet::rate, 1), 10);
}

TEST(PolicyController, AWindowGivenInPacketsIsTakenWhateverTheApplicationUses) {
  EXPECT_EQ(window_after(ActionSet::window, 40), 40);
}

TEST(PolicyController, AStepWithoutAcksLastsUntilOneComesOrASecond) {
  PolicyFlow flow{{}};
  flow.ack(milliseconds{10});
  flow.policy.on_timer(milliseconds{20}, {});
  flow.policy.act(2);
  EXPECT_EQ(flow.policy.next_timer(), Time{milliseconds{1020}});
  flow.ack(milliseconds{700});
  EXPECT_EQ(flow.policy.next_timer(), Time{milliseconds{30}});  // overdue: at once
}

TEST(PolicyController, IndigoActionsHalveStepAndDoubleWithinTheLimits) {
  PolicyFlow flow{{.actions = ActionSet::indigo, .initial_cwnd_packets = 40}};
  const std::array<std::pair<float, double>, 6> steps{{{4, 80}, {3, 90}, {2, 90}, {1, 80}, {0, 40}, {0, 20}}};
  for (const auto& [action, cwnd_packets] : steps) {
    flow.policy.act(action);
    EXPECT_DOUBLE_EQ(flow.policy.cwnd_packets(), cwnd_packets);
  }
  flow.policy.act(1);
  flow.policy.act(1);
  EXPECT_DOUBLE_EQ(flow.policy.cwnd_packets(), 2);  // not 0
}

TEST(PolicyController, LogWindowMultipliesByAtMostE) {
  PolicyFlow flow{{.actions = ActionSet::log_window}};
  flow.policy.act(0.5);
  EXPECT_DOUBLE_EQ(flow.policy.cwnd_packets(), 10 * std::exp(0.5));
  flow.policy.act(-7);
  EXPECT_DOUBLE_EQ(flow.policy.cwnd_packets(), 10 * std::exp(0.5) / std::exp(1.0));
}

// Otherwise the effects of the window would be attributed to an action that was not carried out.
TEST(PolicyController, ThePreviousActionIsTheOneThatWasCarriedOut) {
  constexpr std::size_t kPreviousAction = 19;
  PolicyFlow flow{{.feature_set = FeatureSet::scale_free,
                   .actions = ActionSet::log_window,
                   .initial_cwnd_packets = 10,
                   .max_cwnd_packets = 12}};
  flow.ack(milliseconds{50});
  flow.policy.act(1);
  flow.policy.on_timer(milliseconds{60}, {});
  EXPECT_FLOAT_EQ(flow.policy.observation()[kPreviousAction], static_cast<float>(std::log(1.2)));
  flow.policy.act(-0.5);
  flow.policy.on_timer(milliseconds{70}, {});
  EXPECT_FLOAT_EQ(flow.policy.observation()[kPreviousAction], -0.5F);
}

TEST(PolicyController, AWindowIsWhatTheActionSaysAndLeavesUnpaced) {
  PolicyFlow flow{{.actions = ActionSet::window, .min_cwnd_packets = 1}};
  flow.ack(milliseconds{50});
  flow.policy.act(37.5);
  EXPECT_EQ(flow.policy.limits().cwnd_bytes, 38 * kBytes);
  EXPECT_FALSE(flow.policy.limits().pacing_rate.has_value());
  flow.policy.act(0);
  EXPECT_DOUBLE_EQ(flow.policy.cwnd_packets(), 1);
}

TEST(PolicyController, AWindowAndARateAreWhatTheActionSays) {
  PolicyFlow flow{{.actions = ActionSet::window_and_rate}};
  EXPECT_FALSE(flow.policy.limits().pacing_rate.has_value());  // before the first action
  flow.ack(milliseconds{50});
  flow.policy.act({20, 3.5});
  EXPECT_EQ(flow.policy.limits().cwnd_bytes, 20 * kBytes);
  EXPECT_DOUBLE_EQ(flow.policy.limits().pacing_rate->mbps(), 3.5);
  flow.ack(milliseconds{40});
  EXPECT_DOUBLE_EQ(flow.policy.limits().pacing_rate->mbps(), 3.5);
}

TEST(PolicyController, OnlyLogWindowHasACompanion) {
  EXPECT_TRUE(checked_policy({.actions = ActionSet::log_window, .companion = true}).companion);
  EXPECT_THROW(checked_policy({.actions = ActionSet::window, .companion = true}), std::invalid_argument);
}

TEST(PolicyController, RefusesAnActionThatIsNone) {
  const auto acts = [](ActionSet actions, float action) {
    PolicyFlow flow{{.actions = actions}};
    flow.policy.act(action);
  };
  EXPECT_THROW(acts(ActionSet::indigo, -1), std::invalid_argument);
  EXPECT_THROW(acts(ActionSet::indigo, 5), std::invalid_argument);
  EXPECT_THROW(acts(ActionSet::indigo, 1.5), std::invalid_argument);
  for (const ActionSet actions : kActionSets) EXPECT_THROW(acts(actions, NAN), std::invalid_argument);
}

// 10 packets of 1000 bytes in 50 ms are 1.6 Mbit/s; a longer RTT does not change the pacing rate.
TEST(PolicyController, AWindowLeavesWithinTwoThirdsOfTheLeastRoundTrip) {
  PolicyFlow flow{{.actions = ActionSet::log_window}};
  EXPECT_FALSE(flow.policy.limits().pacing_rate.has_value());  // before the first round trip
  flow.ack(milliseconds{50});
  EXPECT_DOUBLE_EQ(flow.policy.limits().pacing_rate->mbps(), 1.5 * 1.6);
  flow.ack(milliseconds{200});
  EXPECT_DOUBLE_EQ(flow.policy.limits().pacing_rate->mbps(), 1.5 * 1.6);
}

// 10 packets of 1000 bytes in 50 ms are 1.6 Mbit/s.
TEST(PolicyController, RateActionsScaleThePacingRateByAurorasAlpha) {
  PolicyFlow flow{{.actions = ActionSet::rate}};
  EXPECT_FALSE(flow.policy.limits().pacing_rate.has_value());  // before the first round trip
  flow.ack(milliseconds{50});
  EXPECT_DOUBLE_EQ(flow.policy.limits().pacing_rate->mbps(), 1.6);
  flow.policy.act(1);
  EXPECT_DOUBLE_EQ(flow.policy.limits().pacing_rate->mbps(), 1.6 * 1.025);
  flow.policy.act(-1);
  EXPECT_DOUBLE_EQ(flow.policy.limits().pacing_rate->mbps(), 1.6);
  flow.policy.act(7);  // cut to 1
  EXPECT_DOUBLE_EQ(flow.policy.limits().pacing_rate->mbps(), 1.6 * 1.025);
}

TEST(PolicyController, ARateStaysWhenTheRoundTripTurnsOutShorter) {
  PolicyFlow flow{{.actions = ActionSet::rate}};
  flow.ack(milliseconds{50});
  flow.ack(milliseconds{40});
  EXPECT_DOUBLE_EQ(flow.policy.limits().pacing_rate->mbps(), 1.6);
  EXPECT_DOUBLE_EQ(flow.policy.cwnd_packets(), 8);
}

TEST(PolicyController, APacingFlowStopsTwoRoundTripsAfterTheLastAck) {
  PolicyFlow flow{{.actions = ActionSet::rate}};
  flow.ack(milliseconds{100});  // the least is 50 ms: the queue doubles what the rate puts in flight
  EXPECT_EQ(flow.policy.limits().cwnd_bytes, (2 * 2 * 10 + 1) * kBytes);
}

TEST(PolicyController, AFractionOfAPacketAdmitsAWholeOne) {
  PolicyFlow flow{{.initial_cwnd_packets = 2.25}};
  EXPECT_EQ(flow.policy.limits().cwnd_bytes, 3 * kBytes);
}

}  // namespace
}  // namespace ccgym
