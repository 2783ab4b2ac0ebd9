// A controller that writes down what the driver tells it, and does as the test says.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "transport/congestion_controller.hh"

namespace ccgym {

class RecordingController final : public CongestionController {
 public:
  explicit RecordingController(int64_t window_bytes) : cwnd_bytes(window_bytes) {}

  [[nodiscard]] std::string_view name() const override { return "recording"; }
  void on_sent(Time now, const SentPacket& packet) override {
    note(now, "sent " + std::to_string(packet.seq));
  }
  void on_ack(Time now, const AckedPacket& packet) override {
    note(now, "ack " + std::to_string(packet.seq));
    acks.push_back(packet);
  }
  void on_loss(Time now, const Loss& loss) override {
    std::string text = loss.timeout ? "timeout" : "loss";
    for (const LostPacket& packet : loss.packets) text += " " + std::to_string(packet.seq);
    note(now, text);
  }
  void on_spurious_timeout(Time now) override { note(now, "spurious"); }
  [[nodiscard]] std::optional<Time> next_timer() const override { return timer; }
  void on_timer(Time now) override {
    note(now, "timer");
    timer.reset();
  }
  [[nodiscard]] SendLimits limits() const override { return {cwnd_bytes, pacing_mbps}; }

  int64_t cwnd_bytes;
  std::optional<double> pacing_mbps{};
  std::optional<Time> timer{};
  std::vector<std::string> story{};
  std::vector<Time> times{};
  std::vector<AckedPacket> acks{};

 private:
  void note(Time now, std::string text) {
    times.push_back(now);
    story.push_back(std::move(text));
  }
};

}  // namespace ccgym
