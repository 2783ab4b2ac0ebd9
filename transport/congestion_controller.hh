// The one interface every congestion-control scheme meets the transport at.
//
// Sans-I/O: everything that decides takes `now`, the time since the flow began; a controller reads no clock
// and no socket, so the same object runs in the virtual-time twin and over UDP. Driver contract:
//   - `now` never decreases, and no callback calls another.
//   - A packet is sent, then acknowledged or lost. A lost one that arrives is spurious, then acknowledged.
//   - One ACK is one `on_ack`, however many packets it acknowledges and shows to be lost. Losses that only
//     time reveals are an `on_ack` that acknowledges nothing; it has no rate.
//   - `on_restart` comes before the `on_sent` that ends an idle time.
//   - `on_timer` is called once, at or after its deadline.
//   - `next_timer` and `limits` are read again after every callback.
//   - Round trips are told where a controller may need them, as the newest ACK has left them; zero before it.
//   - Marks are told once, with the first ACK that knows of them; others' ACKs may be lost.
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

inline constexpr int64_t kInitialWindowPackets = 10;  // RFC 6928: of every scheme whose text names no other

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
  std::optional<Time> received_at{};      // receiver's clock: differences only; absent if it does not tell
  int64_t inflight_bytes_at_departure{};  // with this packet
  int64_t lost_bytes_at_departure{};      // flow totals, without this packet
  int64_t delivered_bytes_at_departure{};

  // By the receiver's clock; if it does not tell, as known at `now`, the way back included.
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
  std::span<const AckedPacket> acked{};  // in the order they were sent; empty: time alone revealed the losses
  std::span<const LostPacket> lost{};
  int64_t inflight_bytes{};       // after all of this
  int64_t delivered_bytes{};      // flow total, with these
  int64_t declared_lost_bytes{};  // flow total, with these; what arrives after all stays in it
  uint64_t next_seq{};            // of the next packet to leave
  RttStats rtt{};
  RateSample rate{};
  int64_t ce_packets{};             // more have come marked "congestion experienced", if the flow speaks ECN
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

// A deadline of the controller's: nothing has changed since the last event.
struct Timer {
  int64_t inflight_bytes{};
  RttStats rtt{};
};

// A packet that was given up arrives. With a time-out's first, all that left after it is in flight again
// (RFC 5682): the time-out was spurious. That is reported once, and never after a later packet has arrived.
struct SpuriousLoss {
  uint64_t seq{};
  int64_t bytes{};
  Time sent_at{};
  bool timeout{};
};

struct SendLimits {
  int64_t cwnd_bytes{};
  std::optional<Rate> pacing_rate{};  // absent: the window alone decides
  bool holds_back{false};   // below what the path allows: samples tell nothing of it (BBR's ProbeRTT)
  bool ack_clocked{false};  // what an ACK lets go leaves with it, up to a millisecond of the pace at once
};

class CongestionController {
 public:
  virtual ~CongestionController() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  // Whether its packets may be marked instead of dropped (RFC 3168): it answers marks. Asked once, at first.
  [[nodiscard]] virtual bool wants_ecn() const { return false; }
  virtual void on_sent(Time /*now*/, const SentPacket& /*packet*/) {}
  virtual void on_ack(Time now, const AckEvent& ack) = 0;
  virtual void on_timeout(Time now, const Timeout& timeout) = 0;
  virtual void on_spurious_loss(Time /*now*/, const SpuriousLoss& /*loss*/) {}
  virtual void on_restart(Time /*now*/, Time /*idle*/) {}  // the application has data again
  [[nodiscard]] virtual std::optional<Time> next_timer() const { return std::nullopt; }  // absolute deadline
  virtual void on_timer(Time /*now*/, const Timer& /*timer*/) {}
  [[nodiscard]] virtual SendLimits limits() const = 0;
  [[nodiscard]] virtual std::vector<Metric> metrics() const { return {}; }  // always the same ones
  [[nodiscard]] virtual std::unique_ptr<CongestionController> clone() const = 0;
};

}  // namespace ccgym
