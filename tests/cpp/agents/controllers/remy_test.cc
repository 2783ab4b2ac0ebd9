#include "agents/controllers/remy.hh"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>

#include "tests/cpp/agents/controllers/scenario.hh"
#include "tests/cpp/transport/events.hh"

namespace ccgym {
namespace {

using std::chrono::milliseconds;

constexpr int64_t kPacketBytes = 1000;

// Below twice the min RTT the window grows by a packet, above it shrinks, as in every published table.
constexpr std::string_view kTable = R"({"format": "ccgym-remy", "version": 1, "whiskers": [
  {"from": {"send_ewma_ms": 0, "rec_ewma_ms": 0, "rtt_ratio": 0, "slow_rec_ewma_ms": 0},
   "to": {"send_ewma_ms": 1e6, "rec_ewma_ms": 1e6, "rtt_ratio": 1.25, "slow_rec_ewma_ms": 1e6},
   "window_multiple": 1, "window_increment": 1, "intersend_ms": 0.5},
  {"from": {"send_ewma_ms": 0, "rec_ewma_ms": 0, "rtt_ratio": 1.25, "slow_rec_ewma_ms": 0},
   "to": {"send_ewma_ms": 1e6, "rec_ewma_ms": 1e6, "rtt_ratio": 1e6, "slow_rec_ewma_ms": 1e6},
   "window_multiple": 0.99, "window_increment": 0, "intersend_ms": 0.5}]})";

std::string refusal(const std::string& text) {
  try {
    parse_remy_table(text);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "accepted";
}

std::string table_with(std::string_view before, std::string_view after) {
  std::string text{kTable};
  return text.replace(text.find(before), before.size(), after);
}

OneAck acked(milliseconds sent_at, milliseconds received_at, milliseconds rtt) {
  return {.sent_at = sent_at,
          .received_at = received_at,
          .rtt = {.latest = rtt, .smoothed = rtt, .min = milliseconds{40}}};
}

TEST(RemyTable, FindsTheWhiskerWhoseBoxHoldsTheMemory) {
  const RemyTable table = parse_remy_table(kTable);
  EXPECT_EQ(table.size(), 2U);
  EXPECT_EQ(table.find({0, 0, 1.2, 0}).window_multiple, 1);
  EXPECT_EQ(table.find({0, 0, 1.25, 0}).window_multiple, 0.99);
}

TEST(RemyTable, FindsTheNearestWhiskerOutsideOfEveryBox) {
  EXPECT_EQ(parse_remy_table(kTable).find({2e6, 0, 1.0, 0}).window_multiple, 1);
}

TEST(RemyTable, SaysWhatIsWrongWithAFile) {
  EXPECT_EQ(refusal("{"), "is no JSON, should be a RemyCC table");
  EXPECT_EQ(refusal(std::string(100'000, '[')), "its JSON is nested deeper than 16");
  EXPECT_EQ(refusal("[]"), "the table should be an object with format, version, whiskers");
  EXPECT_EQ(refusal(table_with("\"version\": 1", "\"version\": 2")),
            "format and version should be \"ccgym-remy\" and 1");
  EXPECT_EQ(refusal(R"({"format": "ccgym-remy", "version": 1, "whiskers": []})"),
            "a RemyCC table has at least one whisker");
  EXPECT_EQ(refusal(table_with("\"window_multiple\": 0.99", "\"window_multiple\": -1")),
            "whisker 2: window_multiple is -1, should be from 0 to 1000");
  EXPECT_EQ(refusal(table_with("\"rtt_ratio\": 1.25, \"slow", "\"rtt_ratio\": 0, \"slow")),
            "whisker 1: rtt_ratio should be smaller in 'from' than in 'to'");
  EXPECT_EQ(refusal(table_with("\"intersend_ms\"", "\"intersend\"")),
            "whisker 1 has no 'intersend_ms', should have from, to, window_multiple, window_increment, "
            "intersend_ms");
  EXPECT_EQ(refusal(table_with("\"window_increment\": 1,", "\"window_increment\": 1, \"speed\": 1,")),
            "whisker 1 has \"speed\", known are from, to, window_multiple, window_increment, intersend_ms");
}

TEST(RemyTable, IsCheckedAlikeWithoutAFile) {
  const RemyMemory most{1, 1, 1, 1};
  EXPECT_NO_THROW(RemyTable({{.to = most, .window_multiple = 0.99}}));
  try {
    RemyTable({{.to = most}, {.to = most, .window_multiple = -1}});
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(error.what(), refusal(table_with("\"window_multiple\": 0.99", "\"window_multiple\": -1")));
  }
}

TEST(RemyTable, NamesTheFileThatCannotBeRead) {
  for (const std::string file : {"/nowhere/table.json", "/tmp"}) {
    try {
      load_remy_table(file);
      ADD_FAILURE() << file;
    } catch (const std::runtime_error& error) {
      EXPECT_TRUE(std::string_view{error.what()}.starts_with(file + ": ")) << error.what();
    }
  }
}

// Any bytes give either a table, or an error of one line.
TEST(RemyTable, SurvivesAnyBytes) {
  std::mt19937 random{7};
  for (int round = 0; round < 3000; ++round) {
    std::string text{kTable};
    const auto changes = 1 + random() % 8;
    for (unsigned change = 0; change < changes; ++change) {
      const std::size_t at = random() % text.size();
      if (random() % 2 == 0) {
        text[at] = static_cast<char>(random() % 256);
      } else {
        text.erase(at, 1 + random() % 20);
      }
      if (text.empty()) text = "x";
    }
    const std::string outcome = refusal(text);
    EXPECT_FALSE(outcome.empty());
    EXPECT_EQ(outcome.find('\n'), std::string::npos);
  }
}

TEST(Remy, BeginsWithTheActionForAnEmptyMemory) {
  const SendLimits limits = Remy{kPacketBytes, parse_remy_table(kTable)}.limits();
  EXPECT_EQ(limits.cwnd_bytes, kPacketBytes);  // 1 * 0 + 1
  EXPECT_EQ(limits.pacing_rate->mbps(), 16);   // 8000 bit per 0.5 ms
}

// SIGCOMM 2013 section 4.1: EWMAs with weight 1/8 for the newest interval, the slow one with 1/256.
TEST(Remy, RemembersTheIntervalsOfTheAckedPackets) {
  Remy remy{kPacketBytes, parse_remy_table(kTable)};
  report_ack(remy, {}, acked(milliseconds{0}, milliseconds{20}, milliseconds{40}));
  EXPECT_EQ(remy.memory(), (RemyMemory{0, 0, 1, 0}));
  report_ack(remy, {}, acked(milliseconds{8}, milliseconds{36}, milliseconds{60}));
  EXPECT_EQ(remy.memory(), (RemyMemory{1, 2, 1.5, 16.0 / 256}));
}

// 0.99 * 10 = 9.9: whole packets only.
TEST(Remy, MultipliesAndIncrementsItsWindowOnEveryAck) {
  Remy remy{kPacketBytes, parse_remy_table(kTable)};
  for (int i = 0; i < 9; ++i)
    report_ack(remy, {}, acked(milliseconds{i}, milliseconds{20 + i}, milliseconds{40}));
  EXPECT_EQ(remy.cwnd_packets(), 10);
  report_ack(remy, {}, acked(milliseconds{9}, milliseconds{49}, milliseconds{80}));
  EXPECT_EQ(remy.cwnd_packets(), 9);
}

TEST(Remy, ForgetsAllAfterATimeout) {
  Remy remy{kPacketBytes, parse_remy_table(kTable)};
  for (int i = 0; i < 9; ++i)
    report_ack(remy, {}, acked(milliseconds{i}, milliseconds{20 + i}, milliseconds{40}));
  report_losses(remy, {}, {.timeout = true});
  EXPECT_EQ(remy.cwnd_packets(), 1);
  EXPECT_EQ(remy.memory(), RemyMemory{});
}

// Paced a tenth faster than the link below 1.25 times the minimum RTT of 62 ms, a tenth slower above: at most
// one round trip late, 62 ms * 0.1 about the 15 ms of queue.
TEST(RemyRun, HoldsTheQueueWhereItsTableWantsIt) {
  const auto file = std::filesystem::temp_directory_path() / ("remy-" + std::to_string(getpid()) + ".json");
  std::string table = table_with("\"intersend_ms\": 0.5", "\"intersend_ms\": 0.89");
  table.replace(table.find("0.99, "), 6, "1, ");
  table.replace(table.find("\"intersend_ms\": 0.5"), 19, "\"intersend_ms\": 1.1");
  std::ofstream{file} << table;
  const Measured measured = run_scenario("remy:" + file.string(), {});
  std::filesystem::remove(file);
  EXPECT_GT(measured.mbps, 0.95 * 12);
  EXPECT_LT(measured.p95_delay_ms, 30 + 0.5 * 62);
}

}  // namespace
}  // namespace ccgym
