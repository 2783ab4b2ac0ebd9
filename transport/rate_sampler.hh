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
};

class RateSampler {
 public:
  RateMark on_sent(Time now, bool idle) {
    if (idle) {
      first_sent_at_ = now;
      delivered_at_ = now;
    }
    return {delivered_bytes_, delivered_at_, first_sent_at_};
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
            .app_limited = false};
  }

  [[nodiscard]] int64_t delivered_bytes() const { return delivered_bytes_; }

 private:
  int64_t delivered_bytes_{0};
  Time delivered_at_{};
  Time first_sent_at_{};
};

}  // namespace ccgym
