// What the sender measures of its path, and what a controller shows of itself.
#pragma once

#include <cstdint>
#include <string>

#include "transport/units.hh"

namespace ccgym {

struct RttStats {
  Time latest{};
  Time smoothed{};
  Time min{};
};

// One delivery-rate sample, after draft-cheng-iccrg-delivery-rate-estimation, of the packet sent last.
struct RateSample {
  int64_t delivered_bytes{};        // delivered between this packet's departure and its ACK
  int64_t prior_delivered_bytes{};  // flow total when it left: marks BBR's rounds
  Time interval{};                  // the longer of the send and the ACK interval
  Time ack_interval{};              // the ACK interval alone (Indigo's delivery rate)
  bool app_limited{};

  [[nodiscard]] Rate rate() const { return Rate::of(static_cast<double>(delivered_bytes), interval); }
};

struct Metric {  // of a controller's own, for logs and plots
  std::string name;
  std::string unit;  // empty: a plain number
  double value;
};

}  // namespace ccgym
