#include "agents/companion/presumed_rival.hh"

#include <algorithm>
#include <chrono>

namespace ccgym {

namespace {

// A queue that is longer than this for a whole round trip. By probes alone 1,500 kB beside a long Cubic took
// no longer than Cubic's on 38 % of 96 links, with presumed rivals on 60 %. With 15 ms ten flows of our kind
// that join lose 0.03 of Jain's index.
constexpr Time kMetQueue = std::chrono::milliseconds{20};
constexpr int kPresumedRoundTrips = 20;

// Without the watch a flow has less of the link for its first half minute: 26 % in the mean of 80 links
// beside Cubic instead of 29 %, 33 % instead of 35 % beside NewReno.
constexpr int kWatchedRoundTrips = 100;

// Of the largest share that the flow has had since it stepped back: estimates come late, and the share at
// that moment is often still rising. With half of the share at that moment instead, a flow has 27 % of the
// first half minute beside a Cubic that comes first instead of 30 %, in the mean of 60 links.
constexpr double kConfirmingPart = 0.8;

}  // namespace

bool PresumedRival::look(Time now, const RttStats& rtt) {
  met_queue_.on_ack(now, rtt);
  if (met_queue_.least(rtt) <= kMetQueue) return false;
  phase_ = Phase::presumed;
  until_ = now + kPresumedRoundTrips * rtt.smoothed;
  return true;
}

void PresumedRival::step_back(Time now, Time smoothed_rtt, std::optional<double> share) {
  phase_ = Phase::watching;
  until_ = now + kWatchedRoundTrips * smoothed_rtt;
  most_share_ = share.value_or(0);
}

bool PresumedRival::confirmed_by(double share) {
  most_share_ = std::max(most_share_, share);
  return share < kConfirmingPart * most_share_;
}

}  // namespace ccgym
