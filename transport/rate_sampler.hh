// Delivery-rate sampler (draft-cheng-iccrg-delivery-rate-estimation-02, sections 3.2 and 3.3).
#pragma once

#include <algorithm>

#include "transport/congestion_controller.hh"

namespace ccgym {

// What the sampler notes on a packet when it leaves.
struct RateMark {
  int64_t delivered_bytes{};
  Time delivered_at{};
  Time first_sent_at{};
  bool app_limited{};
};

class RateSampler {
 public:
  RateMark on_sent(Time now, bool idle) {
    if (idle) {
      first_sent_at_ = now;
      delivered_at_ = now;
    }
    return {delivered_bytes_, delivered_at_, first_sent_at_, delivered_bytes_ < app_limited_until_bytes_};
  }

  RateSample on_delivered(Time now, int64_t bytes, Time sent_at, const RateMark& mark) {
    delivered_bytes_ += bytes;
    delivered_at_ = now;
    first_sent_at_ = sent_at;
    const Time send_interval = sent_at - mark.first_sent_at;
    const Time ack_interval = now - mark.delivered_at;
    return {.delivered_bytes = delivered_bytes_ - mark.delivered_bytes,
            .prior_delivered_bytes = mark.delivered_bytes,
            .interval = std::max(send_interval, ack_interval),
            .ack_interval = ack_interval,
            .app_limited = mark.app_limited};
  }

  // There was room for a packet and nothing to send: until what is in flight now has arrived, samples tell of
  // the application.
  void on_app_limited(int64_t inflight_bytes) {
    app_limited_until_bytes_ = delivered_bytes_ + std::max<int64_t>(inflight_bytes, 1);
  }

  [[nodiscard]] int64_t delivered_bytes() const { return delivered_bytes_; }

 private:
  int64_t delivered_bytes_{0};
  int64_t app_limited_until_bytes_{0};
  Time delivered_at_{};
  Time first_sent_at_{};
};

}  // namespace ccgym
