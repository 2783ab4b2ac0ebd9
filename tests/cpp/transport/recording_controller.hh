// A controller that records the calls of its driver, with limits that the test sets.
#pragma once

#include <memory>
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
  void on_ack(Time now, const AckEvent& ack) override {
    const std::string acked = ack.acked.empty() ? "" : "ack" + numbers(ack.acked);
    const std::string lost = ack.lost.empty() ? "" : "loss" + numbers(ack.lost);
    note(now, acked + (acked.empty() || lost.empty() ? "" : ", ") + lost);
    if (ack.acked.empty()) return;
    acks.push_back(ack);
    newest.push_back(ack.newest());
  }
  void on_timeout(Time now, const Timeout& timeout) override { note(now, "timeout" + numbers(timeout.lost)); }
  void on_spurious_loss(Time now, const SpuriousLoss& loss) override {
    note(now, (loss.timeout ? "spurious timeout " : "late ") + std::to_string(loss.seq));
  }
  void on_restart(Time now, Time idle) override { note(now, "restart " + std::to_string(idle.count())); }
  [[nodiscard]] bool wants_ecn() const override { return true; }
  [[nodiscard]] std::optional<Time> next_timer() const override { return timer; }
  void on_timer(Time now, const Timer& told) override {
    note(now, "timer");
    timers.push_back(told);
    timer.reset();
  }
  [[nodiscard]] SendLimits limits() const override {
    return {cwnd_bytes, pacing_rate, holds_back, ack_clocked};
  }
  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"calls", "", static_cast<double>(story.size())}};
  }
  [[nodiscard]] std::unique_ptr<CongestionController> clone() const override {
    return std::make_unique<RecordingController>(*this);
  }

  int64_t cwnd_bytes;
  std::optional<Rate> pacing_rate{};
  bool holds_back{false};
  bool ack_clocked{false};
  std::optional<Time> timer{};
  std::vector<std::string> story{};
  std::vector<Time> times{};
  std::vector<Timer> timers{};
  std::vector<AckEvent> acks{};       // without their packets: the spans are no longer valid
  std::vector<AckedPacket> newest{};  // the newest packet of each ACK

 private:
  static std::string numbers(const auto& packets) {
    std::string text;
    for (const auto& packet : packets) text += " " + std::to_string(packet.seq);
    return text;
  }
  void note(Time now, std::string text) {
    times.push_back(now);
    story.push_back(std::move(text));
  }
};

}  // namespace ccgym
