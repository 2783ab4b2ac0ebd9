#include "transport/forwarding_controller.hh"

#include <gtest/gtest.h>

#include <array>

#include "tests/cpp/transport/recording_controller.hh"

namespace ccgym {
namespace {

class Plain final : public ForwardingController<RecordingController> {
 public:
  using ForwardingController::ForwardingController;
  [[nodiscard]] std::unique_ptr<CongestionController> clone() const override {
    return std::make_unique<Plain>(*this);
  }
  [[nodiscard]] const std::vector<std::string>& story() const { return inner().story; }
};

// All decorators of controllers derive from it: Learner, TimedPolicy, the recorder of AckStream.
TEST(ForwardingController, PassesOnWhateverTheSenderTells) {
  Plain wrapped{RecordingController{7000}};
  CongestionController& controller = wrapped;
  const std::array acked{AckedPacket{.seq = 1}};
  const std::array lost{LostPacket{.seq = 0}};
  controller.on_sent(Time{1}, {.seq = 5});
  controller.on_ack(Time{2}, {.acked = acked, .lost = lost});
  controller.on_timeout(Time{3}, {.lost = lost});
  controller.on_spurious_loss(Time{4}, {.seq = 0, .timeout = true});
  controller.on_restart(Time{5}, Time{3});
  controller.on_timer(Time{6}, {});
  EXPECT_EQ(wrapped.story(), (std::vector<std::string>{"sent 5", "ack 1, loss 0", "timeout 0",
                                                       "spurious timeout 0", "restart 3", "timer"}));
  EXPECT_EQ(controller.limits().cwnd_bytes, 7000);
  EXPECT_EQ(controller.metrics().at(0).value, 6);
  EXPECT_EQ(controller.name(), "recording");
  EXPECT_TRUE(controller.wants_ecn());
  EXPECT_EQ(controller.clone()->metrics().at(0).value, 6);
}

}  // namespace
}  // namespace ccgym
