#include "envs/twin/worker_pool.hh"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <vector>

namespace ccgym {
namespace {

class WorkerPoolTest : public testing::TestWithParam<std::size_t> {
 protected:
  WorkerPool pool_{GetParam()};
};

TEST_P(WorkerPoolTest, CallsOnceForEachIndex) {
  for (std::size_t round = 0; round < 2000; ++round) {
    std::vector<std::atomic<int>> calls(round % 100);
    pool_.for_each(calls.size(), [&calls](std::size_t i) { ++calls[i]; });
    EXPECT_TRUE(std::ranges::all_of(calls, [](const auto& count) { return count == 1; })) << round;
  }
}

TEST_P(WorkerPoolTest, ThreadsThatHaveFallenAsleepWakeUp) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> calls{0};
    pool_.for_each(64, [&calls](std::size_t) { ++calls; });
    EXPECT_EQ(calls, 64);
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
}

TEST_P(WorkerPoolTest, WhatIsThrownArrivesOnceAndTheNextLoopIsWhole) {
  const auto fail = [](std::size_t i) {
    if (i % 10 == 3) throw std::runtime_error{"3"};
  };
  EXPECT_THROW(pool_.for_each(50, fail), std::runtime_error);
  std::atomic<int> calls{0};
  EXPECT_NO_THROW(pool_.for_each(50, [&calls](std::size_t) { ++calls; }));
  EXPECT_EQ(calls, 50);
}

INSTANTIATE_TEST_SUITE_P(Threads, WorkerPoolTest, testing::Values(1, 2, 3, 8));

}  // namespace
}  // namespace ccgym
