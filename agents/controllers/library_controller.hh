// A congestion controller from a shared library: adapts the C functions of ccgym/controller.h to
// CongestionController.
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "agents/include/ccgym/controller.h"
#include "transport/congestion_controller.hh"
#include "transport/controller_config.hh"

namespace ccgym {

// Thrown by clone() of a controller whose library does not support it.
class NotCopyableError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class LibraryController final : public CongestionController {
 public:
  // Throws std::invalid_argument as load_controllers, and if the library refuses the arguments.
  LibraryController(const std::string& file, const std::string& args, const ControllerConfig& config);
  LibraryController& operator=(const LibraryController&) = delete;
  ~LibraryController() override = default;

  [[nodiscard]] std::string_view name() const override { return "so"; }
  [[nodiscard]] bool wants_ecn() const override { return table_->wants_ecn != 0; }
  void on_sent(Time now, const SentPacket& packet) override;
  void on_ack(Time now, const AckEvent& ack) override;
  void on_timeout(Time now, const Timeout& timeout) override;
  void on_spurious_loss(Time now, const SpuriousLoss& loss) override;
  void on_restart(Time now, Time idle) override;
  [[nodiscard]] std::optional<Time> next_timer() const override { return next_timer_; }
  void on_timer(Time now, const Timer& timer) override;
  [[nodiscard]] SendLimits limits() const override { return limits_; }
  [[nodiscard]] std::vector<Metric> metrics() const override;
  // Throws NotCopyableError if the library has no clone.
  [[nodiscard]] std::unique_ptr<CongestionController> clone() const override;

 private:
  LibraryController(const LibraryController&) = default;  // shares self_: only for the constructor below
  LibraryController(const LibraryController& other, std::shared_ptr<void> self);

  [[nodiscard]] std::shared_ptr<void> take_ownership(void* self) const;
  void copy_lost(std::span<const LostPacket> lost);
  void read_limits();

  std::string name_;  // in error messages: "so:FILE"
  std::shared_ptr<const ccgym_controller_table> table_;
  int64_t packet_bytes_;
  ccgym_limits requested_limits_{.cwnd_packets = kInitialWindowPackets,
                                 .pacing_mbps = CCGYM_NO_PACING,
                                 .next_timer_ms = CCGYM_NO_TIMER,
                                 .holds_back = 0};
  std::shared_ptr<void> self_{};  // the controller object that the library's create or clone returned
  std::vector<ccgym_acked_packet> acked_{};
  std::vector<ccgym_lost_packet> lost_{};  // both are reused by every event, to avoid allocations
  SendLimits limits_{};
  std::optional<Time> next_timer_{};
};

// Registers "so:FILE.so" and "so:FILE.so:ARGS" with make_controller.
void register_library_controllers();

}  // namespace ccgym
