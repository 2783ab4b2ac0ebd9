// The interface between congestion-control schemes and the transport.
//
// Sans-I/O: everything that decides takes `now`, the time since the flow began; a controller reads no clock
// and no socket, so the same object runs in the virtual-time twin and over UDP. Driver contract:
//   - `now` never decreases, and no callback calls another.
//   - A packet is sent, then acknowledged or lost. If a lost one arrives after all, that is reported as a
//     spurious loss, and then it is acknowledged.
//   - One ACK is one `on_ack`, however many packets it acknowledges or shows to be lost. Losses that are
//     found by time alone come in an `on_ack` that acknowledges nothing and has no rate sample.
//   - `on_restart` comes before the `on_sent` that ends an idle time.
//   - `on_timer` is called once, at or after its deadline.
//   - `next_timer` and `limits` are read again after every callback.
//   - RTT statistics are those after the newest ACK; zero before the first one.
//   - An ECN mark is reported once, with the first ACK that counts it: the marked packet's own may be lost.
//   - A packet leaves while inflight + packet <= cwnd and the pacer is due; one may always be in flight.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "transport/measurements.hh"
#include "transport/units.hh"

namespace ccgym {

inline constexpr int64_t kInitialWindowPackets = 10;  // RFC 6928, for schemes whose text names no other

struct SentPacket {
  uint64_t seq{};
  int64_t bytes{};
  int64_t inflight_bytes{};  // with this packet
  Time smoothed_rtt{};
};

struct AckedPacket {
  uint64_t seq{};
  int64_t bytes{};
  Time sent_at{};
  std::optional<Time> received_at{};      // receiver's clock: differences only; absent if not reported
  int64_t inflight_bytes_at_departure{};  // with this packet
  int64_t lost_bytes_at_departure{};      // flow totals, without this packet
  int64_t delivered_bytes_at_departure{};

  // By the receiver's clock; if that is not reported, the time of the ACK, `now`, return path included.
  [[nodiscard]] Time arrived_at(Time now) const { return received_at.value_or(now); }
};

struct LostPacket {
  uint64_t seq{};
  int64_t bytes{};
  Time sent_at{};
  int64_t inflight_bytes_at_departure{};
  int64_t lost_bytes_at_departure{};
  bool app_limited{};  // as in RateSample
};

enum class Limit : uint8_t { window, pacing, application };  // why the sender has not sent more

struct AckEvent {
  std::span<const AckedPacket> acked{};  // in the order sent; empty: the losses were found by time alone
  std::span<const LostPacket> lost{};
  int64_t inflight_bytes{};       // after all of this
  int64_t delivered_bytes{};      // flow total, with these
  int64_t declared_lost_bytes{};  // flow total, with these; spurious losses stay in it
  uint64_t next_seq{};            // of the next packet to leave
  RttStats rtt{};
  RateSample rate{};
  int64_t ce_packets{};             // newly reported as marked "congestion experienced", if the flow uses ECN
  Limit limited_by{Limit::window};  // up to this ACK

  [[nodiscard]] const AckedPacket& newest() const { return acked.back(); }
  [[nodiscard]] int64_t acked_bytes() const { return sum_of(acked); }
  [[nodiscard]] int64_t lost_bytes() const { return sum_of(lost); }
  // From the newest packet's departure on, itself included (Indigo's send rate).
  [[nodiscard]] int64_t bytes_sent_since() const {
    return static_cast<int64_t>(next_seq - newest().seq) * newest().bytes;
  }

 private:
  static int64_t sum_of(const auto& packets) {
    int64_t bytes = 0;
    for (const auto& packet : packets) bytes += packet.bytes;
    return bytes;
  }
};

// The sender has received nothing for too long: everything in flight is presumed lost.
struct Timeout {
  std::span<const LostPacket> lost{};
  int64_t delivered_bytes{};
  int64_t declared_lost_bytes{};  // with these
  uint64_t next_seq{};
  RttStats rtt{};
};

// The controller's own deadline. Nothing has changed since the last event.
struct Timer {
  int64_t inflight_bytes{};
  RttStats rtt{};
};

// A packet that was declared lost has arrived. `timeout`: a time-out gave it up, and was spurious; all
// packets that left after it are in flight again (RFC 5682). That is reported once for a time-out, and never
// after a later packet has arrived.
struct SpuriousLoss {
  uint64_t seq{};
  int64_t bytes{};
  Time sent_at{};
  bool timeout{};
};

struct SendLimits {
  int64_t cwnd_bytes{};
  std::optional<Rate> pacing_rate{};  // absent: the window alone decides
  bool holds_back{false};   // sends less than the path allows (BBR's ProbeRTT): samples are app-limited
  bool ack_clocked{false};  // packets released by an ACK leave with it, up to a millisecond of the pace
};

class CongestionController {
 public:
  virtual ~CongestionController() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  // Whether its packets may be marked instead of dropped (RFC 3168); it then responds to marks. Asked once.
  [[nodiscard]] virtual bool wants_ecn() const { return false; }
  virtual void on_sent(Time /*now*/, const SentPacket& /*packet*/) {}
  virtual void on_ack(Time now, const AckEvent& ack) = 0;
  virtual void on_timeout(Time now, const Timeout& timeout) = 0;
  virtual void on_spurious_loss(Time /*now*/, const SpuriousLoss& /*loss*/) {}
  virtual void on_restart(Time /*now*/, Time /*idle*/) {}  // the application has data again
  [[nodiscard]] virtual std::optional<Time> next_timer() const { return std::nullopt; }  // absolute deadline
  virtual void on_timer(Time /*now*/, const Timer& /*timer*/) {}
  [[nodiscard]] virtual SendLimits limits() const = 0;
  [[nodiscard]] virtual std::vector<Metric> metrics() const { return {}; }  // always the same names
  [[nodiscard]] virtual std::unique_ptr<CongestionController> clone() const = 0;
};

}  // namespace ccgym
