#include "agents/companion/base_rtt_probe.hh"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace ccgym {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kMinRtt{100};
constexpr milliseconds kQueued{140};
constexpr milliseconds kWayBack{50};
constexpr double kWindow = 70;

class BaseRttProbeTest : public testing::Test {
 protected:
  // An ACK 10 ms after the last one, over a queue that has been standing.
  std::optional<ProbeResult> ack(milliseconds rtt, milliseconds smoothed = kQueued) {
    now_ += milliseconds{10};
    const std::array acked{AckedPacket{.sent_at = now_ - rtt, .received_at = now_ - kWayBack - late_}};
    const AckEvent event{.acked = acked, .rtt = {.latest = rtt, .smoothed = smoothed, .min = kMinRtt}};
    return probe_.on_ack(now_, event, window_, urgency_);
  }

  // ACKs of so many standing round trips.
  void stand(int round_trips) {
    const Time end = now_ + round_trips * kQueued;
    while (now_ < end) ack(kQueued);
  }

  [[nodiscard]] bool limited() const { return probe_.limit(kWindow) < kWindow; }

  // Until the next drain, or time of observing, begins.
  void begin() {
    while (!probe_.on()) ack(kQueued);
  }

  // Until the next drain of ours begins.
  void drain() {
    while (!limited()) ack(kQueued);
  }

  // Of so many drains and times of observing, the share that was spent observing.
  double observed_share(int count) {
    int observed = 0;
    for (int i = 0; i < count; ++i) {
      begin();
      if (!finish(kQueued)->ours) ++observed;
    }
    return static_cast<double>(observed) / count;
  }

  // Of so many drains and times of observing, which ones are drains.
  std::vector<bool> drains(int count) {
    std::vector<bool> ours;
    for (int i = 0; i < count; ++i) {
      begin();
      ours.push_back(finish(kQueued)->ours);
    }
    return ours;
  }

  // A time of observing, through which the round trip is `rtt`.
  ProbeResult observe(milliseconds rtt) {
    urgency_ = Urgency::low;
    begin();
    while (limited()) {
      finish(kQueued);
      begin();
    }
    return *finish(rtt);
  }

  std::optional<ProbeResult> finish(milliseconds rtt) {
    std::optional<ProbeResult> drained;
    while (probe_.on() && !drained) drained = ack(rtt);
    return drained;
  }

  BaseRttProbe probe_{1};
  double window_{kWindow};
  Urgency urgency_{Urgency::normal};
  milliseconds late_{0};  // ACKs are on their way back
  Time now_{};
};

TEST_F(BaseRttProbeTest, DrainsAQueueThatHasStoodForTenRoundTrips) {
  stand(10);
  EXPECT_FALSE(probe_.on());
  stand(1);
  EXPECT_TRUE(probe_.on());
}

// Ten round trips of 14 ms, but not in the first second, for a flow that came to an empty path; one that
// comes to a queue sees it fall.
TEST_F(BaseRttProbeTest, ANewFlowOnAnEmptyPathProbesAfterASecond) {
  urgency_ = Urgency::of_new_flow;
  ack(kMinRtt, milliseconds{14});
  while (!probe_.on()) ack(kQueued, milliseconds{14});
  EXPECT_EQ(now_, std::chrono::seconds{1} + milliseconds{10});
}

TEST_F(BaseRttProbeTest, ANewFlowThatCameToAQueueProbesAtOnce) {
  urgency_ = Urgency::of_new_flow;
  ack(kMinRtt + milliseconds{1}, milliseconds{14});
  while (!probe_.on()) ack(kQueued, milliseconds{14});
  EXPECT_EQ(now_, milliseconds{160});
}

TEST_F(BaseRttProbeTest, AFlowThatSuspectsARivalProbesInItsFirstSecond) {
  urgency_ = Urgency::high;
  ack(kMinRtt, milliseconds{14});
  while (!probe_.on()) ack(kQueued, milliseconds{14});
  EXPECT_EQ(now_, milliseconds{90});
}

// 70 packets in 140 ms are 50 in 100 ms; 0.85 of them are kept.
TEST_F(BaseRttProbeTest, KeepsLessThanThePathHolds) {
  drain();
  EXPECT_NEAR(probe_.limit(kWindow), 42.5, 1e-9);
  EXPECT_EQ(probe_.limit(30), 30);
}

TEST_F(BaseRttProbeTest, LetsTheWindowGoAfterARoundTripAndLooksForOneMore) {
  drain();
  const Time began = now_;
  while (limited()) ack(kQueued);
  EXPECT_EQ(now_ - began, kQueued + milliseconds{10});
  EXPECT_TRUE(probe_.on());
  while (probe_.on()) ack(kQueued);
  EXPECT_EQ(now_ - began, kQueued + kMinRtt + milliseconds{20});
}

TEST_F(BaseRttProbeTest, AnEmptyQueueStartsTheClockAnew) {
  stand(6);
  ack(kMinRtt);
  stand(10);
  EXPECT_FALSE(probe_.on());
  stand(1);
  EXPECT_TRUE(probe_.on());
}

TEST_F(BaseRttProbeTest, APathWithoutAQueueIsLeftAlone) {
  for (int i = 0; i < 1000; ++i) ack(kMinRtt, kMinRtt);
  EXPECT_FALSE(probe_.on());
}

TEST_F(BaseRttProbeTest, TellsHowMuchOfTheQueueStayed) {
  begin();
  const auto drained = finish(milliseconds{110});
  ASSERT_TRUE(drained.has_value());
  EXPECT_DOUBLE_EQ(drained->left, 0.25);
  EXPECT_EQ(drained->cwnd_packets, kWindow);
  EXPECT_EQ(drained->smoothed_rtt, kQueued);
}

// Standard deviation: 0.018.
TEST_F(BaseRttProbeTest, ObservesSometimesInsteadOfADrain) { EXPECT_NEAR(observed_share(400), 0.15, 0.06); }

// Two flows that see the same do not observe at the same times, or neither would see the other drain.
TEST_F(BaseRttProbeTest, WhichDrainsAreLeftOutDependsOnTheSeed) {
  urgency_ = Urgency::of_new_flow;
  const std::vector<bool> ours = drains(40);
  probe_ = BaseRttProbe{1};
  EXPECT_EQ(drains(40), ours);
  probe_ = BaseRttProbe{2};
  EXPECT_NE(drains(40), ours);
}

TEST_F(BaseRttProbeTest, SeesTheQueueFall) {
  const ProbeResult seen = observe(milliseconds{110});
  EXPECT_FALSE(seen.ours);
  EXPECT_TRUE(seen.detected);
  EXPECT_DOUBLE_EQ(seen.left, 0.25);
}

// A host that did not receive, or send, for 30 ms has emptied a queue of 30 ms itself.
TEST_F(BaseRttProbeTest, AFallOfNoMoreThanAPauseOfItsOwnSaysNothingOfOthers) {
  begin();
  late_ = milliseconds{30};
  ack(kQueued);
  late_ = milliseconds{0};
  finish(kQueued);
  EXPECT_TRUE(observe(milliseconds{110}).detected) << "many round trips later";

  for (const auto& [rtt, detected] : {std::pair{110, false}, {109, true}, {140, true}}) {
    urgency_ = Urgency::low;
    do begin();
    while (limited() && finish(kQueued));
    late_ = milliseconds{30};
    ack(kQueued);
    late_ = milliseconds{0};
    EXPECT_EQ(finish(milliseconds{rtt})->detected, detected) << rtt;
    stand(5);
  }
}

// Of 3 packets in 140 ms one takes 47 ms, more than the 40 ms of queue; of 4, one takes 35 ms.
TEST_F(BaseRttProbeTest, AQueueOfLessThanAPacketCannotBeSeenFalling) {
  window_ = 3;
  EXPECT_FALSE(observe(kMinRtt).detected);
  window_ = 4;
  EXPECT_TRUE(observe(kMinRtt).detected);
}

TEST_F(BaseRttProbeTest, MostlyObservesWhereDrainsAreNotWorthTheirCost) {
  urgency_ = Urgency::low;
  EXPECT_NEAR(observed_share(400), 0.9, 0.06);
}

// 0.85 * 2 * 100 / 140 packets would be 1.2; two is the least, and hardly adds to a queue.
TEST_F(BaseRttProbeTest, AWindowThatCannotFallCountsAsDrained) {
  window_ = 2;
  EXPECT_EQ(observed_share(20), 0);
}

// Flows whose drains began at different times see the same empty queue, and count from it.
TEST_F(BaseRttProbeTest, CountsFromTheEmptyQueueOfADrain) {
  drain();
  while (limited()) ack(kQueued);
  ack(kMinRtt);
  const Time emptied = now_;
  while (probe_.on()) ack(kQueued);
  while (!probe_.on()) ack(kQueued);
  EXPECT_EQ(now_ - emptied, 10 * kQueued + milliseconds{10});
}

}  // namespace
}  // namespace ccgym
