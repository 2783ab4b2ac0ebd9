// Finds a traffic policer: two stretches of time, each from loss to loss with a fifth or more of what was
// delivered lost, in which the same was delivered per second. Linux, net/ipv4/tcp_bbr.c ("lt_bw"); from there
// are the figures too. What the policer lets through is then the bandwidth, for 48 rounds.
#pragma once

#include <cmath>
#include <optional>

#include "transport/congestion_controller.hh"

namespace ccgym {

class Policer {
 public:
  struct Delivery {
    Time now{};
    int64_t delivered_bytes{};  // flow totals
    int64_t declared_lost_bytes{};
    bool round_begins{};
    bool app_limited{};
  };

  // True when the policer's bandwidth has been used for long enough: look for more.
  bool on_delivery(const Delivery& delivery, bool probing_bandwidth) {
    const bool lost = delivery.declared_lost_bytes > answered_lost_bytes_;
    answered_lost_bytes_ = delivery.declared_lost_bytes;
    if (found_) return expires(delivery, probing_bandwidth);
    if (!sampling_ && !lost) return false;  // the first loss says that its bucket is empty
    if (!sampling_) begin_interval(delivery);
    sampling_ = true;
    if (delivery.app_limited) {
      forget();
    } else {
      sample(delivery, lost);
    }
    return false;
  }

  // Looks for a policer anew.
  void forget() {
    bandwidth_.reset();
    found_ = sampling_ = false;
  }

  [[nodiscard]] std::optional<Rate> bandwidth() const { return found_ ? bandwidth_ : std::nullopt; }

 private:
  static constexpr int kLeastRounds = 4;
  static constexpr int kMostRounds = 4 * kLeastRounds;
  static constexpr double kLossShare = 50.0 / 256;
  static constexpr double kSameShare = 1.0 / 8;
  static constexpr double kSameMbps = 0.004;
  static constexpr int kRoundsOfUse = 48;
  static constexpr Time kShortest = std::chrono::milliseconds{1};

  bool expires(const Delivery& delivery, bool probing_bandwidth) {
    if (!probing_bandwidth || !delivery.round_begins || ++rounds_ < kRoundsOfUse) return false;
    forget();
    return true;
  }

  void sample(const Delivery& delivery, bool lost) {
    rounds_ += delivery.round_begins ? 1 : 0;
    if (rounds_ < kLeastRounds) return;
    if (rounds_ > kMostRounds) return forget();
    if (!lost) return;
    const auto delivered = static_cast<double>(delivery.delivered_bytes - began_delivered_bytes_);
    const auto lost_bytes = static_cast<double>(delivery.declared_lost_bytes - began_lost_bytes_);
    const Time interval = delivery.now - began_;
    if (delivered <= 0 || lost_bytes < kLossShare * delivered || interval < kShortest) return;
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

  int64_t answered_lost_bytes_{0};  // as of the delivery before
  bool sampling_{false};
  bool found_{false};
  std::optional<Rate> bandwidth_{};  // of the last interval, or of the policer
  Time began_{};
  int64_t began_delivered_bytes_{0};
  int64_t began_lost_bytes_{0};
  int rounds_{0};  // of the interval, or of the policer's use
};

}  // namespace ccgym
