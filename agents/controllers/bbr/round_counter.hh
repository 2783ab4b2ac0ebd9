// Counts round trips by what was delivered: a round ends with the first packet that left after it began
// (draft-cardwell-iccrg-bbr-congestion-control-00, section 4.1.1.3).
#pragma once

#include "transport/congestion_controller.hh"

namespace ccgym {

class RoundCounter {
 public:
  // True when this ACK begins a round.
  bool on_ack(const AckEvent& ack) {
    begins_ = ack.rate.prior_delivered_bytes >= ends_at_delivered_bytes_;
    if (begins_) {
      ends_at_delivered_bytes_ = ack.delivered_bytes;
      ++count_;
    }
    return begins_;
  }

  // A round begins here, uncounted.
  void begin_at(int64_t delivered_bytes) { ends_at_delivered_bytes_ = delivered_bytes; }

  [[nodiscard]] bool begins() const { return begins_; }  // whether the last ACK began a round
  [[nodiscard]] int64_t count() const { return count_; }

 private:
  int64_t ends_at_delivered_bytes_{0};
  int64_t count_{0};
  bool begins_{false};
};

}  // namespace ccgym
