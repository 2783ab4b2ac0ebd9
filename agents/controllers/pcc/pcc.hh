// Performance-oriented congestion control (PCC): the flow tries rates in monitor intervals, and a learner
// (Allegro or Vivace) compares their utilities.
#pragma once

#include <memory>

#include "agents/controllers/pcc/monitor_intervals.hh"
#include "agents/controllers/pcc/rate_learner.hh"
#include "transport/cloned.hh"
#include "transport/congestion_controller.hh"
#include "transport/random.hh"

namespace ccgym {

class Pcc final : public CongestionController {
 public:
  // Bounds of the length of a monitor interval in RTTs, which is drawn uniformly for each.
  struct IntervalRtts {
    double least{};
    double most{};
  };

  Pcc(int64_t packet_bytes, uint64_t seed, IntervalRtts interval_rtts, std::unique_ptr<RateLearner> learner);

  // Allegro or Vivace: with<Allegro>(1436, {.utility = Allegro::Utility::loss}, seed).
  template <class Learner>
  static Pcc with(int64_t packet_bytes, const typename Learner::Config& config, uint64_t seed) {
    return {packet_bytes, stream_seed(seed, 0), Learner::kIntervalRtts,
            std::make_unique<Learner>(config, stream_seed(seed, 1))};
  }

  [[nodiscard]] std::string_view name() const override { return learner_->name(); }
  void on_sent(Time now, const SentPacket& packet) override;
  void on_ack(Time now, const AckEvent& ack) override;
  void on_timeout(Time /*now*/, const Timeout& timeout) override { intervals_.on_timeout(timeout); }
  void on_spurious_loss(Time /*now*/, const SpuriousLoss& loss) override {
    intervals_.on_spurious_loss(loss);
  }
  [[nodiscard]] std::optional<Time> next_timer() const override { return interval_ends_; }
  void on_timer(Time now, const Timer& timer) override;
  [[nodiscard]] SendLimits limits() const override { return limits_; }
  [[nodiscard]] std::unique_ptr<CongestionController> clone() const override {
    return std::make_unique<Pcc>(*this);
  }

 private:
  void start(Time rtt);
  void take_feedback(Time now, const AckEvent& ack);
  void next_interval();
  void open_interval(Time now, const SentPacket& first);
  void learn();
  [[nodiscard]] Time end_of_interval(Time smoothed_rtt) const;
  [[nodiscard]] SendLimits limits_at(Time smoothed_rtt) const;
  [[nodiscard]] double packet_megabits() const { return static_cast<double>(packet_bytes_) * 8e-6; }

  int64_t packet_bytes_;
  IntervalRtts interval_rtts_;
  Cloned<RateLearner> learner_;
  Random random_;
  MonitorIntervals intervals_;
  double rate_mbps_;
  SendLimits limits_;
  bool has_started_{false};
  std::optional<RateLearner::Trial> next_trial_{};  // its interval begins with the next packet
  Time interval_began_{};
  double rtts_of_interval_{};
  std::optional<Time> interval_ends_{};
};

}  // namespace ccgym
