#include "envs/logs/merged_lines.hh"

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <string>

namespace ccgym {
namespace {

constexpr std::array kSentMs{10.0, 11.0};
constexpr std::array kLeftMs{11.0, 18.0};
constexpr std::array kDelaysMs{1.0, 7.0};
constexpr std::array<int32_t, 2> kBytes{1500, 60};

MergedLines lines() {
  MergedLines lines;
  lines.add_sent(kSentMs, kBytes, 1);
  lines.add_received(kLeftMs, kBytes, kDelaysMs, 0.25, 1);
  lines.add_opportunities(kLeftMs, 1500);
  return lines;
}

TEST(MergedLines, AreInTheOrderOfTimeAndOfTheirColumns) {
  EXPECT_EQ(lines().next(1000),
            "10.000 + 1500 1\n11.000 + 60 1\n11.000 # 1500\n11.250 - 1500 1.250 1\n"
            "18.000 # 1500\n18.250 - 60 7.250 1\n");
}

TEST(MergedLines, ComeInPiecesOfWholeLines) {
  MergedLines in_pieces = lines();
  std::string text;
  for (std::string piece = in_pieces.next(1); !piece.empty(); piece = in_pieces.next(1)) {
    EXPECT_EQ(piece.find('\n'), piece.size() - 1);
    text += piece;
  }
  EXPECT_EQ(text, lines().next(1000));
}

TEST(MergedLines, OfColumnsOfDifferentLengthThereAreNone) {
  MergedLines broken;
  EXPECT_THROW(broken.add_sent(kSentMs, {}, 1), std::invalid_argument);
}

}  // namespace
}  // namespace ccgym
