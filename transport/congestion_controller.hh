// The one interface every congestion-control scheme meets the transport at.
//
// Sans-I/O: everything that decides takes `now`, the time since the flow began; a controller reads
// no clock and no socket, so the same object flies in the virtual-time twin and over UDP.
// Driver contract: `now` never decreases; the losses and the spurious time-out that an ACK reveals are
// reported before that ACK; `on_timer` is called once, at or after its deadline; `next_timer` and `limits`
// are read again after every callback; a packet leaves while inflight + packet <= cwnd and the pacer is due.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace ccgym {

using Time = std::chrono::nanoseconds;  // since the flow began

struct RttStats {
  Time latest{};
  Time smoothed{};
  Time min{};
};

// One delivery-rate sample, after draft-cheng-iccrg-delivery-rate-estimation.
struct RateSample {
  int64_t delivered_bytes{};        // delivered between this packet's departure and its ACK
  int64_t prior_delivered_bytes{};  // flow total when it left: marks BBR's rounds
  Time interval{};                  // the longer of the send and the ACK interval
  Time ack_interval{};              // the ACK interval alone (Indigo's delivery rate)
  bool app_limited{};
};

struct SentPacket {
  uint64_t seq{};
  int64_t bytes{};
  int64_t inflight_bytes{};  // with this packet
};

struct AckedPacket {
  uint64_t seq{};
  int64_t bytes{};
  Time sent_at{};
  Time received_at{};          // receiver clock: differences only
  int64_t inflight_bytes{};    // without this packet
  int64_t delivered_bytes{};   // flow total, with this packet
  int64_t bytes_sent_since{};  // from this packet's departure on, itself included (Indigo's send rate)
  RttStats rtt{};
  RateSample rate{};
};

struct LostPacket {
  uint64_t seq{};
  int64_t bytes{};
  Time sent_at{};
};

struct Loss {
  std::span<const LostPacket> packets{};
  int64_t inflight_bytes{};  // without the lost packets
  bool timeout{};            // the retransmission timer expired: everything in flight is presumed lost
};

struct SendLimits {
  int64_t cwnd_bytes{};
  std::optional<double> pacing_mbps{};  // absent: the window alone decides
};

class CongestionController {
 public:
  CongestionController() = default;
  CongestionController(const CongestionController&) = default;
  CongestionController& operator=(const CongestionController&) = default;
  virtual ~CongestionController() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  virtual void on_sent(Time /*now*/, const SentPacket& /*packet*/) {}
  virtual void on_ack(Time now, const AckedPacket& packet) = 0;
  virtual void on_loss(Time now, const Loss& loss) = 0;
  // The last time-out gave up packets that are on their way after all (RFC 5682).
  virtual void on_spurious_timeout(Time /*now*/) {}
  [[nodiscard]] virtual std::optional<Time> next_timer() const { return std::nullopt; }  // absolute deadline
  virtual void on_timer(Time /*now*/) {}
  [[nodiscard]] virtual SendLimits limits() const = 0;
};

}  // namespace ccgym
