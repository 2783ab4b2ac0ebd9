// Detects a traffic policer, as Linux does (net/ipv4/tcp_bbr.c, "lt_bw", whose constants are used): two
// consecutive intervals, each from one loss to another, with losses of at least a fifth of the delivered
// bytes and nearly the same delivery rate. That rate is then used as the bandwidth for 48 rounds.
#pragma once

#include <cmath>
#include <optional>

#include "transport/congestion_controller.hh"

namespace ccgym {

class Policer {
 public:
  struct Delivery {
    Time now{};
    int64_t delivered_bytes{};      // total of the flow
    int64_t declared_lost_bytes{};  // total of the flow
    bool round_begins{};
    bool app_limited{};
  };

  // Returns true when the policer's rate has been used for 48 rounds, so that BBR should probe for more
  // bandwidth.
  bool on_delivery(const Delivery& delivery, bool probing_bandwidth) {
    const bool lost = delivery.declared_lost_bytes > previous_lost_bytes_;
    previous_lost_bytes_ = delivery.declared_lost_bytes;
    if (found_) return expires(delivery, probing_bandwidth);
    if (!sampling_ && !lost) return false;  // before the first loss the policer's token bucket is not empty
    if (!sampling_) begin_interval(delivery);
    sampling_ = true;
    if (delivery.app_limited) {
      forget();
    } else {
      sample(delivery, lost);
    }
    return false;
  }

  // Forgets the policer and begins to look for one again.
  void forget() {
    bandwidth_.reset();
    found_ = sampling_ = false;
  }

  [[nodiscard]] std::optional<Rate> bandwidth() const { return found_ ? bandwidth_ : std::nullopt; }

 private:
  static constexpr int kMinRounds = 4;               // lt_intvl_min_rtts
  static constexpr int kMaxRounds = 4 * kMinRounds;  // a longer interval is discarded
  static constexpr double kLossShare = 50.0 / 256;   // lt_loss_thresh: lost bytes / delivered bytes
  static constexpr double kSameShare = 1.0 / 8;      // lt_bw_ratio: relative difference of the rates
  static constexpr double kSameMbps = 0.004;         // lt_bw_diff: absolute difference of the rates
  static constexpr int kRoundsOfUse = 48;            // lt_bw_max_rtts
  static constexpr Time kMinInterval = std::chrono::milliseconds{1};

  bool expires(const Delivery& delivery, bool probing_bandwidth) {
    if (!probing_bandwidth || !delivery.round_begins || ++rounds_ < kRoundsOfUse) return false;
    forget();
    return true;
  }

  void sample(const Delivery& delivery, bool lost) {
    rounds_ += delivery.round_begins ? 1 : 0;
    if (rounds_ < kMinRounds) return;
    if (rounds_ > kMaxRounds) return forget();
    if (!lost) return;
    const auto delivered = static_cast<double>(delivery.delivered_bytes - began_delivered_bytes_);
    const auto lost_bytes = static_cast<double>(delivery.declared_lost_bytes - began_lost_bytes_);
    const Time interval = delivery.now - began_;
    if (delivered <= 0 || lost_bytes < kLossShare * delivered || interval < kMinInterval) return;
    end_interval(delivery, Rate::of(delivered, interval));
  }

  void end_interval(const Delivery& delivery, Rate rate) {
    const double before_mbps = bandwidth_.value_or(Rate{}).mbps();
    if (bandwidth_) {
      const double difference = std::abs(rate.mbps() - before_mbps);
      found_ = difference <= kSameShare * before_mbps || difference <= kSameMbps;
    }
    bandwidth_ = found_ ? Rate::from_mbps((rate.mbps() + before_mbps) / 2) : rate;
    begin_interval(delivery);
  }

  void begin_interval(const Delivery& delivery) {
    began_ = delivery.now;
    began_delivered_bytes_ = delivery.delivered_bytes;
    began_lost_bytes_ = delivery.declared_lost_bytes;
    rounds_ = 0;
  }

  int64_t previous_lost_bytes_{0};  // declared_lost_bytes of the previous call
  bool sampling_{false};
  bool found_{false};
  std::optional<Rate> bandwidth_{};  // delivery rate of the last interval; once found, the policer's
  Time began_{};
  int64_t began_delivered_bytes_{0};
  int64_t began_lost_bytes_{0};
  int rounds_{0};  // since the interval began; once found, for which the policer's rate has been used
};

}  // namespace ccgym
