#include "transport/rate_sampler.hh"

#include <gtest/gtest.h>

namespace ccgym {
namespace {

RateSample delivered(RateSampler& sampler, Time now, int64_t bytes, Time sent_at, const RateMark& mark) {
  sampler.on_delivered(bytes);
  return sampler.sample(now, sent_at, mark);
}

using std::chrono::milliseconds;

TEST(RateSampler, MeasuresWhatWasDeliveredSinceThePacketLeft) {
  RateSampler sampler;
  const RateMark first = sampler.on_sent(milliseconds{0}, true);
  const RateMark second = sampler.on_sent(milliseconds{5}, false);
  delivered(sampler, milliseconds{100}, 1000, milliseconds{0}, first);
  const RateSample rate = delivered(sampler, milliseconds{120}, 1000, milliseconds{5}, second);
  EXPECT_EQ(rate.delivered_bytes, 2000);  // both came back after the second one had left
  EXPECT_EQ(rate.prior_delivered_bytes, 0);
  EXPECT_EQ(rate.ack_interval, Time{milliseconds{120}});
  EXPECT_EQ(rate.interval, Time{milliseconds{120}});
}

TEST(RateSampler, TheLongerIntervalCountsSoThatCompressedAcksDoNotLookFast) {
  RateSampler sampler;
  const RateMark first = sampler.on_sent(milliseconds{0}, true);
  delivered(sampler, milliseconds{100}, 1000, milliseconds{0}, first);
  const RateMark second = sampler.on_sent(milliseconds{200}, false);  // slow to send ...
  const RateMark third = sampler.on_sent(milliseconds{250}, false);
  delivered(sampler, milliseconds{300}, 1000, milliseconds{200}, second);
  const RateSample rate =
      delivered(sampler, milliseconds{300}, 1000, milliseconds{250}, third);  // ... quick ACKs
  EXPECT_EQ(rate.delivered_bytes, 2000);
  EXPECT_EQ(rate.ack_interval, Time{milliseconds{200}});
  EXPECT_EQ(rate.interval, Time{milliseconds{250}});  // sent between 0 and 250 ms
}

TEST(RateSampler, AnIdleSpellIsNotMeasured) {
  RateSampler sampler;
  delivered(sampler, milliseconds{50}, 1000, milliseconds{0}, sampler.on_sent(milliseconds{0}, true));
  const RateMark later = sampler.on_sent(milliseconds{900}, true);
  const RateSample rate = delivered(sampler, milliseconds{950}, 1000, milliseconds{900}, later);
  EXPECT_EQ(rate.interval, Time{milliseconds{50}});
  EXPECT_EQ(rate.delivered_bytes, 1000);
}

// The draft's C.app_limited holds until more than what was in flight has arrived.
TEST(RateSampler, SamplesTellOfTheApplicationUntilWhatWasInFlightHasArrived) {
  RateSampler sampler;
  const RateMark before = sampler.on_sent(milliseconds{0}, true);
  sampler.on_app_limited(1000);
  const RateMark within = sampler.on_sent(milliseconds{10}, false);
  EXPECT_FALSE(delivered(sampler, milliseconds{100}, 1000, milliseconds{0}, before).app_limited);
  const RateMark after = sampler.on_sent(milliseconds{101}, false);
  EXPECT_TRUE(delivered(sampler, milliseconds{110}, 1000, milliseconds{10}, within).app_limited);
  EXPECT_TRUE(delivered(sampler, milliseconds{201}, 1000, milliseconds{101}, after).app_limited);
  const RateMark last = sampler.on_sent(milliseconds{202}, false);
  EXPECT_FALSE(delivered(sampler, milliseconds{302}, 1000, milliseconds{202}, last).app_limited);
}

}  // namespace
}  // namespace ccgym
