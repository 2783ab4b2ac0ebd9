// PIE (Pan et al.: A Lightweight Control Scheme to Address the Bufferbloat Problem, HPSR 2013; RFC 8033)
// with mahimahi's constants and its arithmetic in whole milliseconds and bytes per millisecond.
#pragma once

#include <cstdint>

#include "envs/twin/queue_spec.hh"
#include "envs/twin/waiting_line.hh"
#include "transport/random.hh"

namespace ccgym {

class Pie {
 public:
  Pie(const QueueSpec& queue, uint64_t seed)
      : reference_ms_(queue.qdelay_ref_ms), max_burst_ms_(queue.max_burst_ms), random_(seed) {}

  // Whether a packet that arrives at a line of `waiting_bytes` is to be dropped.
  bool drops_early(int64_t waiting_bytes);
  // `taken_bytes` have just left a line that still holds `waiting_bytes`.
  void measure(int64_t now_ms, int64_t taken_bytes, int64_t waiting_bytes);
  // The drop probability, brought up to date.
  void update(int64_t now_ms, int64_t waiting_bytes);

 private:
  void adjust_probability(int64_t waiting_bytes);
  void forgive_when_quiet();

  int64_t reference_ms_;
  int64_t max_burst_ms_;
  Random random_;
  double probability_{0};
  int64_t burst_ms_{0};
  int64_t delay_ms_{0};  // of the queue, estimated
  int64_t previous_delay_ms_{0};
  int64_t bytes_per_ms_{0};  // at which the queue drains; 0: not known
  int64_t last_update_ms_{0};
  bool measuring_{false};
  int64_t measured_since_ms_{0};
  int64_t measured_bytes_{0};
};

}  // namespace ccgym
