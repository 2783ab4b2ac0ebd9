// The interface between congestion-control schemes and the transport.
//
// Sans-I/O: every callback takes `now`, the time since the flow began. A controller reads no clock and no
// socket, so that the same code runs in the emulator's virtual time and over UDP. The driver's contract:
//   - `now` never decreases, and no callback calls another.
//   - Every packet is sent, then acknowledged or declared lost. If a packet that was declared lost arrives
//     after all, `on_spurious_loss` is called for it, and then `on_ack`.
//   - Each ACK causes one `on_ack`, however many packets it acknowledges or shows to be lost. Losses that a
//     timer detects, without an ACK, come in an `on_ack` without acknowledged packets and rate sample.
//   - `on_restart` is called after an idle period, before the `on_sent` of the packet that ends it.
//   - `on_timer` is called once, at or after the deadline `next_timer`.
//   - `next_timer` and `limits` are read again after every callback.
//   - RTT statistics are those after the newest ACK; zero before the first one.
//   - An ECN mark is reported once, with the first ACK whose counter includes it, because the ACK of the
//     marked packet itself may be lost.
//   - A packet may leave while inflight + packet <= cwnd and the pacer permits it. If nothing is in flight,
//     one packet may leave whatever the cwnd.
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

inline constexpr int64_t kInitialWindowPackets = 10;  // RFC 6928, if a scheme's source gives no other

struct SentPacket {
  uint64_t seq{};
  int64_t bytes{};
  int64_t inflight_bytes{};  // including this packet
  Time smoothed_rtt{};
};

struct AckedPacket {
  uint64_t seq{};
  int64_t bytes{};
  Time sent_at{};
  std::optional<Time> received_at{};       // receiver's clock, for differences only; absent: not reported
  int64_t inflight_bytes_at_departure{};   // including this packet
  int64_t lost_bytes_at_departure{};       // total of the flow when this packet left, without this packet
  int64_t delivered_bytes_at_departure{};  // likewise

  // `received_at`, or, if that is absent, `now`, the arrival time of the ACK, which includes the return path.
  [[nodiscard]] Time arrived_at(Time now) const { return received_at.value_or(now); }
};

struct LostPacket {
  uint64_t seq{};
  int64_t bytes{};
  Time sent_at{};
  int64_t inflight_bytes_at_departure{};
  int64_t lost_bytes_at_departure{};
  bool app_limited{};  // it left while the flow was application-limited, as in RateSample
};

enum class Limit : uint8_t { window, pacing, application };  // what keeps the sender from sending more

struct AckEvent {
  std::span<const AckedPacket> acked{};  // in the order they were sent; empty if a timer detected the losses
  std::span<const LostPacket> lost{};
  int64_t inflight_bytes{};       // without the packets acknowledged and lost here
  int64_t delivered_bytes{};      // total of the flow, including this ACK
  int64_t declared_lost_bytes{};  // total of the flow, including this ACK and all spurious losses
  uint64_t next_seq{};            // seq of the next packet to be sent
  RttStats rtt{};
  RateSample rate{};
  int64_t ce_packets{};             // newly reported ECN-CE marks; 0 without wants_ecn
  Limit limited_by{Limit::window};  // up to this ACK

  [[nodiscard]] bool has_rate_sample() const { return !acked.empty() && rate.interval > Time{}; }
  [[nodiscard]] const AckedPacket& newest() const { return acked.back(); }
  [[nodiscard]] int64_t acked_bytes() const { return sum_of(acked); }
  [[nodiscard]] int64_t lost_bytes() const { return sum_of(lost); }
  // Bytes sent since the departure of the newest acknowledged packet, including it (for Indigo's send rate).
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

// The retransmission time-out: no ACK came for too long, so all packets in flight are presumed lost.
struct Timeout {
  std::span<const LostPacket> lost{};
  int64_t delivered_bytes{};      // total of the flow
  int64_t declared_lost_bytes{};  // total of the flow, including these
  uint64_t next_seq{};
  RttStats rtt{};
};

// The controller's own deadline, `next_timer`, has been reached.
struct Timer {
  int64_t inflight_bytes{};
  RttStats rtt{};
};

// A packet that was declared lost has arrived. `timeout`: the arrival shows that a time-out was spurious (RFC
// 5682), so that all packets sent after this one count as in flight again. It is set at most once for a
// time-out, and never after a packet sent after the time-out has arrived.
struct SpuriousLoss {
  uint64_t seq{};
  int64_t bytes{};
  Time sent_at{};
  bool timeout{};
};

struct SendLimits {
  int64_t cwnd_bytes{};
  std::optional<Rate> pacing_rate{};  // absent: only the cwnd limits
  // Sends less than the path can carry, on purpose (BBR's ProbeRTT): rate samples count as app-limited.
  bool holds_back{false};
  // An ACK that opens the window releases packets at once, up to a millisecond of the pacing rate.
  bool ack_clocked{false};
};

class CongestionController {
 public:
  virtual ~CongestionController() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  // Whether packets are sent as ECT, so that routers may mark them (RFC 3168); the controller then responds
  // to marks. Read once, when the flow begins.
  [[nodiscard]] virtual bool wants_ecn() const { return false; }
  virtual void on_sent(Time /*now*/, const SentPacket& /*packet*/) {}
  virtual void on_ack(Time now, const AckEvent& ack) = 0;
  virtual void on_timeout(Time now, const Timeout& timeout) = 0;
  virtual void on_spurious_loss(Time /*now*/, const SpuriousLoss& /*loss*/) {}
  virtual void on_restart(Time /*now*/, Time /*idle*/) {}  // an idle period of length `idle` ends
  [[nodiscard]] virtual std::optional<Time> next_timer() const { return std::nullopt; }  // absolute deadline
  virtual void on_timer(Time /*now*/, const Timer& /*timer*/) {}
  [[nodiscard]] virtual SendLimits limits() const = 0;
  // Values for logs and plots, with the same names at every call.
  [[nodiscard]] virtual std::vector<Metric> metrics() const { return {}; }
  [[nodiscard]] virtual std::unique_ptr<CongestionController> clone() const = 0;
};

}  // namespace ccgym
