#include "envs/twin/ack_stream.hh"

#include <gtest/gtest.h>

#include <stdexcept>

#include "envs/twin/simulate.hh"

namespace ccgym {
namespace {

PathSpec dumbbell() {
  const auto schedule = Schedule::constant(12);
  return {.delay_ms = 20,
          .uplink = {.schedule = schedule, .queue = {.kind = "droptail", .packets = 40}},
          .downlink = {.schedule = schedule}};
}

TEST(AckStream, HasEveryAckOfTheRun) {
  const AckStream stream{dumbbell(), "reno", 5, /*seed=*/1};
  EXPECT_EQ(stream.acks(), simulate(dumbbell(), "reno", 5, 1).front().delivered_packets);
}

TEST(AckStream, IsHeardByEveryKindOfController) {
  const AckStream stream{dumbbell(), "reno", 5, /*seed=*/1};
  for (const char* scheme :
       {"fixed:40", "reno", "sprout", "vivace", "verus"}) {  // by window, timer, interval
    EXPECT_NO_THROW(stream.replay(scheme)) << scheme;
  }
}

TEST(AckStream, RefusesASchemeAsTheTableDoes) {
  EXPECT_THROW((AckStream{dumbbell(), "nonsense", 1, 1}), std::invalid_argument);
  EXPECT_THROW((AckStream{dumbbell(), "reno", 1, 1}.replay("nonsense")), std::invalid_argument);
}

}  // namespace
}  // namespace ccgym
