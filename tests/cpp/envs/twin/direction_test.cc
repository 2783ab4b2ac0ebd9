#include "envs/twin/direction.hh"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace ccgym {
namespace {

constexpr int64_t ms(int64_t count) { return count * kNsPerMs; }

PathSpec path_of(const Nesting& nesting = kDefaultNesting) {
  const auto schedule = Schedule::constant(12);
  PathSpec path{.delay_ms = 30, .uplink = {schedule}, .downlink = {schedule}};
  path.nesting = nesting;
  return path;
}

constexpr Nesting kDelayInside{Element::link, Element::loss, Element::onoff, Element::delay};

TEST(Direction, DataMeetTheInnermostElementFirstAndAcksTheOutermost) {
  Random random{1};
  Direction up{path_of(), Way::up, 1};
  EXPECT_EQ(up.reach_link(ms(5), random), ms(5));
  EXPECT_EQ(up.reach_end(ms(6), random), ms(36));
  Direction down{path_of(), Way::down, 1};
  EXPECT_EQ(down.reach_link(ms(36), random), ms(66));
  EXPECT_EQ(down.reach_end(ms(67), random), ms(67));
}

TEST(Direction, ADelayInsideTheLinkIsOnItsOtherSide) {
  Random random{1};
  Direction up{path_of(kDelayInside), Way::up, 1};
  EXPECT_EQ(up.reach_link(ms(5), random), ms(35));
  EXPECT_EQ(up.reach_end(ms(36), random), ms(36));
  Direction down{path_of(kDelayInside), Way::down, 1};
  EXPECT_EQ(down.reach_link(ms(36), random), ms(36));
  EXPECT_EQ(down.reach_end(ms(37), random), ms(67));
}

TEST(Direction, MahimahisClockCountsWholeMilliseconds) {
  Random random{1};
  Direction whole{path_of(), Way::up, 1};
  EXPECT_EQ(whole.reach_link(whole.clock(5'999'999), random), ms(5));
  PathSpec path = path_of();
  path.timing = Timing::continuous;
  path.delay_ms = 0.25;
  Direction exact{path, Way::up, 1};
  EXPECT_EQ(exact.reach_link(exact.clock(5'999'999), random), 5'999'999);
  EXPECT_EQ(exact.reach_end(5'999'999, random), 6'249'999);
}

TEST(Direction, LossIsOnTheSideOfTheLinkWhereItNests) {
  for (const bool inside : {false, true}) {
    PathSpec path = path_of(inside ? Nesting{Element::delay, Element::onoff, Element::link, Element::loss}
                                   : kDefaultNesting);
    path.uplink.loss = 1;
    Random random{1};
    Direction up{path, Way::up, 1};
    EXPECT_EQ(up.reach_link(0, random) == kNeverNs, inside);
    EXPECT_EQ(up.reach_end(0, random) == kNeverNs, !inside);
  }
}

TEST(Direction, ADelayThatFallsLetsNobodyOvertake) {
  PathSpec path = path_of();
  path.varying_delay_ms = std::make_shared<const StepFunction>(StepFunction{{0, 10}, {30, 5}, 1000});
  Random random{1};
  Direction up{path, Way::up, 1};
  std::vector<int64_t> through;
  for (const int64_t at : {0, 9, 10, 20, 34, 40}) through.push_back(up.reach_end(ms(at), random) / kNsPerMs);
  EXPECT_EQ(through, (std::vector<int64_t>{30, 39, 39, 39, 39, 45}));
}

TEST(OnOffGate, IsOnFirstAndThenItsShareOfTheTime) {
  OnOffGate gate{{.mean_on_ms = 300, .mean_off_ms = 100}, 5};
  EXPECT_TRUE(gate.on(0));
  int64_t on = 0;
  int64_t changes = 0;
  bool before = true;
  for (int64_t at = 0; at < 400'000; ++at) {
    const bool now = gate.on(ms(at));
    on += now ? 1 : 0;
    changes += now == before ? 0 : 1;
    before = now;
  }
  EXPECT_NEAR(static_cast<double>(on) / 400'000, 0.75, 0.03);
  EXPECT_NEAR(static_cast<double>(changes), 2000, 200);
}

TEST(OnOffGate, WithoutTimesIsAlwaysOn) {
  OnOffGate gate{{}, 5};
  EXPECT_TRUE(gate.on(kNeverNs - 1));
}

TEST(Nesting, NamesEachElementOnce) {
  const std::vector<std::string> inside{"link", "loss", "onoff", "delay"};
  EXPECT_EQ(make_nesting(inside), kDelayInside);
  for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{
           {}, {"link"}, {"link", "loss", "onoff", "onoff"}, {"link", "loss", "onoff", "queue"}}) {
    EXPECT_THROW(make_nesting(wrong), std::invalid_argument);
  }
  EXPECT_THROW(cross_traffic_kind("bulk"), std::invalid_argument);
}

TEST(OnOffGate, RefusesSojournsThatWouldNotLetTimeGoOn) {
  EXPECT_THROW((OnOffGate{{.mean_on_ms = 1e-6, .mean_off_ms = 1e-6}, 1}), std::invalid_argument);
}

}  // namespace
}  // namespace ccgym
