// Properties of every controller on random networks.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agents/controllers/make_controller.hh"
#include "envs/twin/promises.hh"
#include "envs/twin/random_network.hh"
#include "tests/cpp/transport/driver_contract.hh"
#include "transport/cloned.hh"
#include "transport/forwarding_controller.hh"

namespace ccgym {
namespace {

bool needs_argument(std::string_view scheme) {
  constexpr std::array<std::string_view, 4> kNeed{"fixed", "policy", "rate", "remy"};
  return std::ranges::find(kNeed, scheme) != kNeed.end();
}

// The whole table, and arguments for what needs or takes one; a policy and a rule table need a file.
std::vector<std::string> schemes() {
  std::vector<std::string> schemes{"fixed:20", "rate:4", "copa:0.1", "allegro:loss", "vivace:loss"};
  for (const Scheme& scheme : known_schemes()) {
    if (!needs_argument(scheme.name)) schemes.emplace_back(scheme.name);
  }
  return schemes;
}

// As over QUIC, whose receivers do not report arrival times.
class WithoutReceiversClock final : public ForwardingController<Cloned<CongestionController>> {
 public:
  using ForwardingController::ForwardingController;

  void on_ack(Time now, const AckEvent& ack) override {
    std::vector<AckedPacket> acked{ack.acked.begin(), ack.acked.end()};
    for (AckedPacket& packet : acked) packet.received_at.reset();
    AckEvent told = ack;
    told.acked = acked;
    ForwardingController::on_ack(now, told);
  }
  [[nodiscard]] std::unique_ptr<CongestionController> clone() const override {
    return std::make_unique<WithoutReceiversClock>(*this);
  }
};

int64_t delivered_packets(std::unique_ptr<CongestionController> controller) {
  RandomNetwork network{std::move(controller), /*seed=*/3};
  while (network.now() < std::chrono::seconds{25} && network.step()) {
  }
  return network.delivered_packets();
}

class EveryController : public testing::TestWithParam<std::string> {};

TEST_P(EveryController, KeepsItsPromises) {
  const std::vector<Promise> promises = check_promises(GetParam(), /*seed=*/1);
  EXPECT_FALSE(promises.empty());
  for (const Promise& promise : promises) {
    EXPECT_EQ(promise.breach, "") << promise.text;
    EXPECT_EQ(promise.unchecked, "") << promise.text;
  }
}

TEST_P(EveryController, MeetsASenderThatKeepsItsContract) {
  RandomNetwork network{std::make_unique<DriverContract>(
                            make_controller(GetParam(), {.packet_bytes = RandomNetwork::kPacketBytes})),
                        /*seed=*/3};
  while (network.now() < std::chrono::seconds{25} && network.step()) {
  }
  EXPECT_EQ(dynamic_cast<const DriverContract&>(network.controller()).violations(),
            std::vector<std::string>{});
}

TEST_P(EveryController, NeedsNoTimesOfTheReceiver) {
  const auto made = [] { return make_controller(GetParam(), {.packet_bytes = RandomNetwork::kPacketBytes}); };
  EXPECT_GT(2 * delivered_packets(std::make_unique<WithoutReceiversClock>(made())),
            delivered_packets(made()));
}

INSTANTIATE_TEST_SUITE_P(Schemes, EveryController, testing::ValuesIn(schemes()), [](const auto& scheme) {
  std::string name = scheme.param;  // a test's name is letters and digits
  std::ranges::replace_if(name, [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
});

}  // namespace
}  // namespace ccgym
