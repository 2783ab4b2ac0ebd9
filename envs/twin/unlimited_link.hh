// A link whose queue has no limit: when a packet leaves is known as soon as it arrives.
//
// Departures are the same as a TwinLink's, in both timings.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include "envs/twin/opportunity_cursor.hh"
#include "envs/twin/packet_sizes.hh"
#include "envs/twin/schedule.hh"
#include "envs/twin/timing.hh"
#include "transport/units.hh"

namespace ccgym {

struct Transmission {
  int64_t begin_ns{};  // the packet leaves the queue
  int64_t end_ns{};    // its last byte leaves the link
};

class UnlimitedLink {
 public:
  UnlimitedLink(std::shared_ptr<const Schedule> schedule, Timing timing)
      : serves_continuously_(timing == Timing::continuous && schedule->is_constant()),
        ns_per_byte_(Rate::from_mbps(schedule->mean_rate_mbps()).ns_for(1)),
        cursor_(std::move(schedule)) {}

  // The times of the next packet, which arrives no sooner than the one before it; `bytes` with the TUN
  // header. kNeverNs: a trace that does not repeat has ended.
  Transmission transmit(int64_t arrival_ns, int64_t bytes) {
    return serves_continuously_ ? serve(arrival_ns, bytes) : use_opportunities(arrival_ns, bytes);
  }

 private:
  Transmission serve(int64_t arrival_ns, int64_t bytes) {
    const auto ip_bytes = static_cast<double>(bytes - kTunHeaderBytes);
    const int64_t begin_ns = std::max(end_ns_, arrival_ns);
    end_ns_ = begin_ns + std::llround(ip_bytes * ns_per_byte_);
    return {begin_ns, end_ns_};
  }

  Transmission use_opportunities(int64_t arrival_ns, int64_t bytes) {
    if (arrival_ns >= end_ns_) {  // the link was idle: the rest of its last opportunity is lost
      cursor_.skip_through(arrival_ns);
      room_bytes_ = 0;
    }
    const int64_t begin_ns = room_bytes_ > 0 ? end_ns_ : cursor_.next_ns();
    while (bytes > room_bytes_) {
      bytes -= room_bytes_;
      end_ns_ = cursor_.next_ns();
      if (end_ns_ == kNeverNs) return {begin_ns, kNeverNs};
      cursor_.advance();
      room_bytes_ = kOpportunityBytes;
    }
    room_bytes_ -= bytes;
    return {begin_ns, end_ns_};
  }

  bool serves_continuously_;
  double ns_per_byte_;
  OpportunityCursor cursor_;
  int64_t end_ns_{0};      // of the last transmission
  int64_t room_bytes_{0};  // left in the opportunity that ended it
};

}  // namespace ccgym
