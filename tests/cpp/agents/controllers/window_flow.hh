// Drives a controller as the sender does, in units of packets, with the times and RTTs that the test chooses.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "tests/cpp/transport/events.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

class WindowFlow {
 public:
  static constexpr int64_t kPacketBytes = 1000;

  explicit WindowFlow(CongestionController& controller) : controller_{controller} {}

  [[nodiscard]] double cwnd() const {
    return static_cast<double>(controller_.limits().cwnd_bytes) / static_cast<double>(kPacketBytes);
  }
  [[nodiscard]] int64_t inflight() const { return inflight_; }
  [[nodiscard]] uint64_t next_seq() const { return next_seq_; }
  [[nodiscard]] Time now() const { return now_; }
  void wait(Time time) { now_ += time; }

  int send_while_open() {
    int sent = 0;
    for (; (inflight_ + 1) * kPacketBytes <= controller_.limits().cwnd_bytes; ++sent) {
      controller_.on_sent(now_, {next_seq_++, kPacketBytes, ++inflight_ * kPacketBytes});
    }
    return sent;
  }

  void ack(uint64_t seq, Time rtt = {}, Time one_way = {}) {
    min_rtt_ = std::min(min_rtt_, rtt);
    report_ack(controller_, now_,
               {.seq = seq,
                .bytes = kPacketBytes,
                .sent_at = now_ - rtt,
                .received_at = now_ - rtt + one_way,
                .inflight_bytes = --inflight_ * kPacketBytes,
                .next_seq = next_seq_,
                .rtt = {.latest = rtt, .smoothed = rtt, .min = min_rtt_},
                .ce_packets = to_mark_ > 0 ? 1 : 0,
                .limited_by = limited_by_});
    if (to_mark_ > 0) --to_mark_;
  }

  // One round trip: every packet in flight is acknowledged at once, and the window sent again.
  void round_trip(Time rtt) {
    now_ += rtt;
    const uint64_t end = next_seq_;
    for (uint64_t seq = end - static_cast<uint64_t>(inflight_); seq < end; ++seq) ack(seq, rtt);
    send_while_open();
  }

  // The next `packets` ACKs each report a CE mark.
  void mark_next(int packets) { to_mark_ = packets; }

  // What limits the flow, as the next ACKs report it.
  void limit_by(Limit limit) { limited_by_ = limit; }

  [[nodiscard]] std::vector<uint64_t> all_in_flight() const {
    std::vector<uint64_t> seqs;
    for (int64_t back = inflight_; back > 0; --back) seqs.push_back(next_seq() - static_cast<uint64_t>(back));
    return seqs;
  }

  void lose(const std::vector<uint64_t>& seqs, bool timeout = false) {
    std::vector<LostPacket> packets;
    for (const uint64_t seq : seqs) packets.push_back({.seq = seq, .bytes = kPacketBytes, .sent_at = {}});
    inflight_ -= static_cast<int64_t>(seqs.size());
    report_losses(controller_, now_,
                  {.packets = packets,
                   .inflight_bytes = inflight_ * kPacketBytes,
                   .timeout = timeout,
                   .next_seq = next_seq_});
  }

  // Loses the oldest packet in flight and brings the episode to its end, a round trip later.
  void lose_one_and_recover(Time rtt) {
    const uint64_t end = next_seq_;
    const uint64_t lost = end - static_cast<uint64_t>(inflight_);
    lose({lost});
    send_while_open();
    now_ += rtt;
    for (uint64_t seq = lost + 1; seq < end; ++seq) {
      ack(seq, rtt);
      send_while_open();
    }
    ack(end, rtt);
  }

 private:
  CongestionController& controller_;
  uint64_t next_seq_{0};
  int64_t inflight_{0};
  int to_mark_{0};
  Time now_{};
  Time min_rtt_{Time::max()};
  Limit limited_by_{Limit::window};
};

}  // namespace ccgym
