// Indigo's observation: EWMAs of queueing delay, delivery rate and sending rate over one step, the
// window, and the previous action. Its clock is whole milliseconds, as the published weights expect.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "agents/policy/own_state.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

class IndigoFeatures {
 public:
  static constexpr std::array<float, 9> kDivisors{200, 200, 200, 5000, 1, 1, 1, 1, 1};

  void on_ack(Time now, const AckEvent& ack) {
    const int64_t rtt_ms = whole_ms(now) - whole_ms(ack.newest().sent_at);
    const int64_t delivery_ms = whole_ms(now) - whole_ms(now - ack.rate.ack_interval);
    min_rtt_ms_ = std::min(min_rtt_ms_, rtt_ms);
    add({static_cast<double>(rtt_ms - min_rtt_ms_), mbps(ack.rate.delivered_bytes, delivery_ms),
         mbps(ack.bytes_sent_since(), rtt_ms)});
  }
  void on_loss(std::span<const LostPacket> /*lost*/) {}
  // The action may be any number, because other action sets than Indigo's five classes are possible.
  void on_action(float action) { previous_action_ = std::trunc(action); }
  void observe(Time now, const OwnState& own, std::span<float> observation);

 private:
  struct Ewmas {
    double queueing_ms{0};
    double delivery_mbps{0};
    double sending_mbps{0};
  };

  // The averages begin anew with every step, whose first sample initialises them.
  void add(const Ewmas& sample) {
    if (!has_sample_) {
      ewmas_ = sample;
      has_sample_ = true;
      return;
    }
    blend(ewmas_.queueing_ms, sample.queueing_ms);
    blend(ewmas_.delivery_mbps, sample.delivery_mbps);
    blend(ewmas_.sending_mbps, sample.sending_mbps);
  }
  static void blend(double& ewma, double sample) {
    constexpr double kKeep = 0.875;  // Indigo's: each sample has the weight 1/8
    ewma = kKeep * ewma + (1 - kKeep) * sample;
  }

  // Unsigned, because that division is twice as fast; a time of a flow is never negative.
  static int64_t whole_ms(Time time) {
    return static_cast<int64_t>(static_cast<uint64_t>(time.count()) / uint64_t{1'000'000});
  }
  static double mbps(int64_t bytes, int64_t interval_ms) {
    return 0.008 * static_cast<double>(bytes) / static_cast<double>(std::max<int64_t>(1, interval_ms));
  }

  static constexpr std::size_t kActions = 5;
  static constexpr float kFirstPreviousAction = 4;  // as in Indigo's sender

  int64_t min_rtt_ms_{std::numeric_limits<int64_t>::max()};
  Ewmas ewmas_{};
  bool has_sample_{false};
  float previous_action_{kFirstPreviousAction};
};

}  // namespace ccgym
