#include "envs/logs/event_parser.hh"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace ccgym {
namespace {

const EventLayouts kMerged{{'#', "dkx"}, {'+', "dknn"}, {'-', "dkndn"}};
const std::string kLog =
    "0.125 # 1500\n0.250 + 700 2\n1.125 - 1500 1.000 1\n0.500 - 700 -0.250 2\n3.000 + 1500";

EventParser parser(EventParser::Order order = EventParser::Order::any) { return {kMerged, order, 2}; }

std::string refusal(EventParser& parser, const std::string& text) {
  try {
    parser.feed(text);
    parser.finish();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(EventParser, ReadsTheSameHoweverTheLogIsCut) {
  for (std::size_t cut = 1; cut <= kLog.size(); ++cut) {
    EventParser events = parser();
    for (std::size_t begin = 0; begin < kLog.size(); begin += cut) events.feed(kLog.substr(begin, cut));
    EXPECT_TRUE(events.cut_in_mid_line());
    EXPECT_EQ(std::get<std::vector<double>>(events.take('#', 0)), std::vector{0.125});
    EXPECT_EQ(std::get<std::vector<double>>(events.take('-', 3)), (std::vector{1.0, -0.25}));
    EXPECT_EQ(std::get<std::vector<int32_t>>(events.take('-', 2)), (std::vector{1500, 700}));
    EXPECT_EQ(std::get<std::vector<int32_t>>(events.take('-', 4)), (std::vector{1, 2}));
    EXPECT_EQ(std::get<std::vector<int32_t>>(events.take('+', 2)), std::vector{700});
  }
}

TEST(EventParser, CountsLinesThatAreEarlierThanTheOneBefore) {
  EventParser events = parser();
  events.feed(kLog);
  EXPECT_EQ(events.backwards(), 1);
  EXPECT_EQ(events.most_backwards_ms(), 0.625);
}

TEST(EventParser, RefusesThemWhereOrderIsAsked) {
  EventParser events = parser(EventParser::Order::kept);
  EXPECT_EQ(refusal(events, kLog), "5: '0.500 - 700 -0.250 2' is earlier than the line before");
}

TEST(EventParser, KeepsNothingOfAnUnaskedNumberButChecksIt) {
  EventParser events = parser();
  EXPECT_EQ(refusal(events, "0.125 # x\n"), "2: '0.125 # x' has a field that is not the number it should be");
  EXPECT_TRUE(std::get<std::vector<int64_t>>(events.take('#', 2)).empty());
}

TEST(EventParser, RefusesNumbersOfMoreThan32BitsWhereTheyAreAskedFor) {
  EventParser events = parser();
  EXPECT_EQ(refusal(events, "0.125 + 2147483648 1\n"),
            "2: '0.125 + 2147483648 1' has a number beyond 0 to 2147483647");
  EventParser uids{{{'-', "dkisi"}}, EventParser::Order::kept, 2};
  uids.feed("0.125 - 999999999999999999 - 1\n");
  EXPECT_EQ(std::get<std::vector<int64_t>>(uids.take('-', 2)), std::vector<int64_t>{999999999999999999});
}

TEST(EventParser, ShowsLittleOfALineThatIsNoEvent) {
  EventParser events = parser();
  const std::string refused = refusal(events, std::string(5'000'000, '\x01'));
  EXPECT_EQ(refused, "2: '" + std::string(80, '?') + "...' is no event: too long");
}

}  // namespace
}  // namespace ccgym
