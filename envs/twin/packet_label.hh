// The flow of a packet, the ECN codepoint of its IP header, and on an ACK the number of marked packets that
// its receiver has seen. In one word, because it is copied with every packet.
#pragma once

#include <cstdint>

namespace ccgym {

class PacketLabel {
 public:
  PacketLabel() = default;
  explicit(false) constexpr PacketLabel(uint32_t flow, bool ect = false) : word_{flow | (ect ? kEct0 : 0)} {}

  [[nodiscard]] uint32_t flow() const { return static_cast<uint32_t>(word_); }
  [[nodiscard]] bool is_marked() const { return (word_ & kCe) == kCe; }

  // False: its flow does not use ECN, and it has to be dropped instead.
  bool mark() {
    if ((word_ & kCe) == 0) return false;
    word_ |= kCe;
    return true;
  }

  // The label of the ACK, which itself does not use ECN (RFC 3168, section 6.1.4).
  [[nodiscard]] PacketLabel echoing(uint16_t ce_count) const {
    PacketLabel ack{flow()};
    ack.word_ |= uint64_t{ce_count} << kCountAt;
    return ack;
  }
  [[nodiscard]] uint16_t ce_count() const { return static_cast<uint16_t>(word_ >> kCountAt); }

 private:
  static constexpr uint64_t kEct0 = uint64_t{0b10} << 32;  // the codepoints of RFC 3168
  static constexpr uint64_t kCe = uint64_t{0b11} << 32;
  static constexpr int kCountAt = 48;

  uint64_t word_{};
};

}  // namespace ccgym
