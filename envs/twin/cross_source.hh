// Cross traffic: when its datagrams arrive at the uplink.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "envs/twin/path.hh"
#include "envs/twin/timing.hh"
#include "transport/random.hh"

namespace ccgym {

class CrossSource {
 public:
  CrossSource(const CrossTraffic& traffic, Timing timing);

  // When the next datagram arrives, by the network's clock; kNeverNs after the last.
  [[nodiscard]] int64_t next_ns() const { return next_ns_; }
  [[nodiscard]] int64_t tun_bytes() const { return tun_bytes_; }
  void advance();  // to the next datagram

 private:
  [[nodiscard]] double gap_ms();
  void skip_off_periods();
  void update_next();

  CrossTraffic traffic_;
  Timing timing_;
  int64_t tun_bytes_;
  double spacing_ms_;  // of a source while it is on; the mean of a Poisson source
  Random random_;
  double at_ms_;                 // exact time of the next datagram
  double on_period_ends_ms_{0};  // end of the present on-period
  int64_t next_ns_{kNeverNs};
};

// All sources of a path, ordered by the times of their next datagrams.
class CrossSources {
 public:
  CrossSources(std::span<const CrossTraffic> traffic, Timing timing);

  [[nodiscard]] int64_t next_ns() const { return next_ns_; }

  // Takes the datagram that arrives at `next_ns`. Returns its size with the TUN header.
  int64_t take();

 private:
  void find_next();

  std::vector<CrossSource> sources_{};
  std::size_t next_{0};
  int64_t next_ns_{kNeverNs};
};

}  // namespace ccgym
