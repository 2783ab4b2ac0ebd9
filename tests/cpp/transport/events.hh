// Events as a sender reports them, of which a test sets only the fields that matter to it.
#pragma once

#include <array>
#include <span>

#include "transport/congestion_controller.hh"

namespace ccgym {

// An ACK of one packet.
struct OneAck {
  uint64_t seq{};
  int64_t bytes{};
  std::optional<Time> sent_at{};  // absent: one RTT ago
  std::optional<Time> received_at{};
  int64_t inflight_bytes{};
  int64_t delivered_bytes{};
  std::optional<uint64_t> next_seq{};  // absent: the one after `seq`
  RttStats rtt{};
  RateSample rate{};
  int64_t inflight_bytes_at_departure{};
  int64_t lost_bytes_at_departure{};
  int64_t declared_lost_bytes{};
  int64_t ce_packets{};
  Limit limited_by{Limit::window};
  std::span<const LostPacket> lost{};
};

decltype(auto) report_ack(auto& listener, Time now, const OneAck& one) {
  const std::array acked{AckedPacket{.seq = one.seq,
                                     .bytes = one.bytes,
                                     .sent_at = one.sent_at.value_or(now - one.rtt.latest),
                                     .received_at = one.received_at,
                                     .inflight_bytes_at_departure = one.inflight_bytes_at_departure,
                                     .lost_bytes_at_departure = one.lost_bytes_at_departure,
                                     .delivered_bytes_at_departure = one.rate.prior_delivered_bytes}};
  return listener.on_ack(now, {.acked = acked,
                               .lost = one.lost,
                               .inflight_bytes = one.inflight_bytes,
                               .delivered_bytes = one.delivered_bytes,
                               .declared_lost_bytes = one.declared_lost_bytes,
                               .next_seq = one.next_seq.value_or(one.seq + 1),
                               .rtt = one.rtt,
                               .rate = one.rate,
                               .ce_packets = one.ce_packets,
                               .limited_by = one.limited_by});
}

// Losses that a timer detects, or a time-out.
struct Losses {
  std::span<const LostPacket> packets{};
  int64_t inflight_bytes{};
  bool timeout{};
  int64_t delivered_bytes{};
  int64_t declared_lost_bytes{};
  uint64_t next_seq{};
};

void report_losses(auto& listener, Time now, const Losses& losses) {
  if (losses.timeout) {
    listener.on_timeout(now, {.lost = losses.packets,
                              .delivered_bytes = losses.delivered_bytes,
                              .declared_lost_bytes = losses.declared_lost_bytes,
                              .next_seq = losses.next_seq});
  } else {
    listener.on_ack(now, {.lost = losses.packets,
                          .inflight_bytes = losses.inflight_bytes,
                          .delivered_bytes = losses.delivered_bytes,
                          .declared_lost_bytes = losses.declared_lost_bytes,
                          .next_seq = losses.next_seq});
  }
}

}  // namespace ccgym
