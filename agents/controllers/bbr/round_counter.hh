// Counts round trips: a round ends with the ACK of a packet that left after the round began
// (draft-cardwell-iccrg-bbr-congestion-control-00, section 4.1.1.3).
#pragma once

#include "transport/congestion_controller.hh"

namespace ccgym {

class RoundCounter {
 public:
  // Returns true if this ACK ends a round and begins the next one.
  bool on_ack(const AckEvent& ack) {
    begins_ = ack.rate.prior_delivered_bytes >= ends_at_delivered_bytes_;
    if (begins_) {
      ends_at_delivered_bytes_ = ack.delivered_bytes;
      ++count_;
    }
    return begins_;
  }

  // Begins a round now, without counting it; `delivered_bytes` is the present total of the flow.
  void begin_at(int64_t delivered_bytes) { ends_at_delivered_bytes_ = delivered_bytes; }

  [[nodiscard]] bool begins() const { return begins_; }  // whether the last ACK began a round
  [[nodiscard]] int64_t count() const { return count_; }

 private:
  int64_t ends_at_delivered_bytes_{0};
  int64_t count_{0};
  bool begins_{false};
};

}  // namespace ccgym
