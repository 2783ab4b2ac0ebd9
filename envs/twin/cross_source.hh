// Traffic of nobody in particular: when its datagrams come to the uplink.
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

  // When the next datagram comes, on the network's clock; kNeverNs after the last.
  [[nodiscard]] int64_t next_ns() const { return next_ns_; }
  [[nodiscard]] int64_t tun_bytes() const { return tun_bytes_; }
  void advance();

 private:
  [[nodiscard]] double gap_ms();
  void skip_off_spells();
  void show();

  CrossTraffic traffic_;
  Timing timing_;
  int64_t tun_bytes_;
  double spacing_ms_;  // of a source that is on all the time; of a Poisson one the mean
  Random random_;
  double at_ms_;             // exact time of the next datagram
  double spell_ends_ms_{0};  // of the present on-spell
  int64_t next_ns_{kNeverNs};
};

// All sources of a path, in the order of their next datagrams' times.
class CrossSources {
 public:
  CrossSources(std::span<const CrossTraffic> traffic, Timing timing);

  [[nodiscard]] int64_t next_ns() const { return next_ns_; }

  // The size, with the TUN header, of the datagram that comes at `next_ns`; goes on to the one after it.
  int64_t take();

 private:
  void find_next();

  std::vector<CrossSource> sources_{};
  std::size_t next_{0};
  int64_t next_ns_{kNeverNs};
};

}  // namespace ccgym
