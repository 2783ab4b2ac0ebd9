// RemyCC: a controller that looks its action up in a table computed offline (see remy_table.hh).
#pragma once

#include "agents/controllers/remy_table.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

class Remy final : public CongestionController {
 public:
  Remy(int64_t packet_bytes, RemyTable table);

  [[nodiscard]] std::string_view name() const override { return "remy"; }
  void on_ack(Time now, const AckEvent& ack) override;
  void on_timeout(Time now, const Timeout& timeout) override;
  [[nodiscard]] SendLimits limits() const override;
  [[nodiscard]] std::unique_ptr<CongestionController> clone() const override {
    return std::make_unique<Remy>(*this);
  }

  [[nodiscard]] const RemyMemory& memory() const { return memory_; }
  [[nodiscard]] double cwnd_packets() const { return cwnd_packets_; }

 private:
  struct LastAck {
    Time sent_at{};
    Time received_at{};
  };

  void remember(const AckedPacket& packet, Time received_at, const RttStats& rtt);
  void blend(std::size_t signal, double alpha, double sample_ms) {
    memory_[signal] += alpha * (sample_ms - memory_[signal]);
  }
  void act();
  void restart();

  int64_t packet_bytes_;
  RemyTable table_;
  RemyMemory memory_{};
  std::optional<LastAck> last_{};
  double cwnd_packets_{0};
  double intersend_ms_{0};
};

}  // namespace ccgym
