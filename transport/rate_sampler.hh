// Delivery-rate sampler (draft-cheng-iccrg-delivery-rate-estimation-02, sections 3.2 and 3.3).
#pragma once

#include <algorithm>

#include "transport/measurements.hh"

namespace ccgym {

// The sampler's state when a packet left, which is stored with the packet.
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
    return {delivered_bytes_, delivered_at_, first_sent_at_, delivered_bytes_ <= app_limited_until_bytes_};
  }

  // To be called for each packet of an ACK, before `sample`.
  void on_delivered(int64_t bytes) { delivered_bytes_ += bytes; }

  // The sample of an ACK; `sent_at` and `mark` are those of its packet that was sent last.
  RateSample sample(Time now, Time sent_at, const RateMark& mark) {
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

  // The flow does not use the whole capacity of the path: samples count as app-limited until
  // `inflight_bytes`, at least one packet, have been delivered.
  void on_app_limited(int64_t inflight_bytes) {
    app_limited_until_bytes_ = delivered_bytes_ + inflight_bytes;
  }

  [[nodiscard]] int64_t delivered_bytes() const { return delivered_bytes_; }

 private:
  int64_t delivered_bytes_{0};
  int64_t app_limited_until_bytes_{-1};
  Time delivered_at_{};
  Time first_sent_at_{};
};

}  // namespace ccgym
