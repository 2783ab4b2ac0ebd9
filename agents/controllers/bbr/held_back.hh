// A stretch of the flow in which the sender held itself back: what was delivered of it tells nothing of the
// path (draft-ietf-ccwg-bbr, section 5.3.4.3: MarkConnectionAppLimited).
#pragma once

#include <algorithm>

#include "transport/congestion_controller.hh"

namespace ccgym {

class HeldBack {
 public:
  // Everything sent until what is in flight now has arrived belongs to the stretch.
  void on_ack(const AckedPacket& packet) {
    if (packet.delivered_bytes > until_delivered_bytes_) from_delivered_bytes_ = packet.delivered_bytes;
    until_delivered_bytes_ = packet.delivered_bytes + std::max(packet.inflight_bytes, packet.bytes);
  }

  [[nodiscard]] bool covers(const RateSample& rate) const {
    return rate.prior_delivered_bytes >= from_delivered_bytes_ &&
           rate.prior_delivered_bytes <= until_delivered_bytes_;
  }

 private:
  int64_t from_delivered_bytes_{0};
  int64_t until_delivered_bytes_{-1};
};

}  // namespace ccgym
