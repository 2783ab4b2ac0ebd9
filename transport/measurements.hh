// The sender's measurements of its path, and a controller's own metrics.
#pragma once

#include <cstdint>
#include <string>

#include "transport/units.hh"

namespace ccgym {

struct RttStats {
  Time latest{};    // of the newest ACK
  Time smoothed{};  // RFC 9002, section 5.3
  Time min{};       // min RTT of the whole flow
};

// A delivery-rate sample (draft-cheng-iccrg-delivery-rate-estimation-02), taken from the packet of an ACK
// that was sent last.
struct RateSample {
  int64_t delivered_bytes{};        // delivered between the departure of the packet and its ACK
  int64_t prior_delivered_bytes{};  // total of the flow when the packet left, for BBR's round counting
  Time interval{};                  // the longer of send and ACK interval; 0: no sample
  Time ack_interval{};              // the ACK interval alone (for Indigo's delivery rate)
  bool app_limited{};               // the application had too little data to send

  [[nodiscard]] Rate rate() const { return Rate::of(static_cast<double>(delivered_bytes), interval); }
};

struct Metric {  // a value that a controller publishes for logs and plots
  std::string name;
  std::string unit;  // empty for a number without a unit
  double value;
};

}  // namespace ccgym
