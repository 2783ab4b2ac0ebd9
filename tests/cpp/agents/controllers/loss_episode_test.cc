#include "agents/controllers/loss_episode.hh"

#include <gtest/gtest.h>

#include <vector>

namespace ccgym {
namespace {

class LossEpisodeTest : public testing::Test {
 protected:
  void lose(const std::vector<uint64_t>& seqs, int64_t ce_packets = 0) {
    std::vector<LostPacket> lost;
    for (const uint64_t seq : seqs) lost.push_back({.seq = seq});
    episode_.count({.lost = lost, .ce_packets = ce_packets});
  }

  LossEpisode episode_{};
};

TEST_F(LossEpisodeTest, BeginsWithALossThatTheLastOneDoesNotCover) {
  const std::vector<LostPacket> lost{{.seq = 3}, {.seq = 10}};
  EXPECT_TRUE(episode_.begins_with(lost));
  episode_.begin(10);
  EXPECT_TRUE(episode_.begins_with(lost));
  EXPECT_FALSE(episode_.begins_with(std::span{lost}.first(1)));
  episode_.begin_or_extend(11, /*goes_on=*/true);
  EXPECT_FALSE(episode_.begins_with(lost));
}

TEST_F(LossEpisodeTest, IsUndoneOnceByTheLastOfItsLosses) {
  episode_.begin(10);
  lose({2, 3});
  lose({5});
  EXPECT_FALSE(episode_.undone_by(3));
  EXPECT_FALSE(episode_.undone_by(5));
  EXPECT_TRUE(episode_.undone_by(2));
  EXPECT_FALSE(episode_.undone_by(2));
}

TEST_F(LossEpisodeTest, IsNotUndoneWhileOneOfItsLossesIsGenuine) {
  episode_.begin(10);
  lose({2, 3});
  episode_.begin_or_extend(20, /*goes_on=*/true);
  lose({12});
  EXPECT_FALSE(episode_.undone_by(12));
  EXPECT_FALSE(episode_.undone_by(3));
}

TEST_F(LossEpisodeTest, IsNotUndoneByALossOfTheOneBefore) {
  episode_.begin(10);
  lose({2});
  episode_.begin_or_extend(20, /*goes_on=*/false);
  lose({12});
  EXPECT_FALSE(episode_.undone_by(2));
  EXPECT_TRUE(episode_.undone_by(12));
}

TEST_F(LossEpisodeTest, IsNotUndoneWhereMarksTellOfCongestionToo) {
  episode_.begin(10);
  lose({2});
  lose({}, 1);
  EXPECT_FALSE(episode_.undone_by(2));
  episode_.begin(20);
  lose({12});
  EXPECT_TRUE(episode_.undone_by(12));
}

TEST_F(LossEpisodeTest, IsNotUndoneAfterATimeOut) {
  episode_.begin(10);
  lose({2});
  episode_.abandon(20);
  EXPECT_TRUE(episode_.is_older(19));
  episode_.begin_or_extend(30, /*goes_on=*/true);
  lose({22});
  EXPECT_FALSE(episode_.undone_by(2));
  EXPECT_FALSE(episode_.undone_by(22));
}

}  // namespace
}  // namespace ccgym
