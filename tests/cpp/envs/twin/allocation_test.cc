// A twin in steady state allocates nothing.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <new>

#include "agents/controllers/copa.hh"
#include "agents/controllers/fixed_window.hh"
#include "envs/twin/learner.hh"
#include "envs/twin/twin.hh"

namespace {

std::atomic<int64_t> allocations{0};

void* counted(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc{};
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }

namespace ccgym {
namespace {

using std::chrono::seconds;

constexpr auto kPacketBytes = static_cast<int64_t>(kDataBytes);

PathSpec lossy_path() {
  const auto schedule = Schedule::constant(50);
  return {20, {schedule, {"droptail", 200}, 0.001}, {schedule, {}, 0}, 0.01, 3};
}

template <class Controller>
void expect_no_allocation(Controller& controller) {
  Twin<Controller> twin{lossy_path(), controller, 1};
  twin.run(seconds{10});
  const int64_t packets = twin.sender(0).delivered_packets();
  const int64_t before = allocations;
  twin.run(seconds{40});
  EXPECT_EQ(allocations - before, 0);
  EXPECT_GT(twin.sender(0).delivered_packets() - packets, 10'000);
}

TEST(Allocation, NoPacketOfAFixedWindowAllocates) {
  FixedWindow controller{kPacketBytes, {.cwnd_packets = 300}};
  expect_no_allocation(controller);
}

TEST(Allocation, NoPacketOfCopaAllocates) {
  Copa controller{kPacketBytes, {}};
  expect_no_allocation(controller);
}

TEST(Allocation, NoStepOfALearnerAllocates) {
  Learner learner{{}, {.packet_bytes = kPacketBytes}, Time{}};
  Twin<Learner> twin{lossy_path(), learner, 1};
  const auto decides = [&](std::size_t) { return learner.policy().awaiting_action(); };
  const auto step = [&] {
    twin.run(seconds{100}, decides);
    learner.policy().act(2);
    twin.resume(0);
  };
  for (int i = 0; i < 200; ++i) step();
  const int64_t before = allocations;
  for (int i = 0; i < 500; ++i) step();
  EXPECT_EQ(allocations - before, 0);
}

}  // namespace
}  // namespace ccgym
