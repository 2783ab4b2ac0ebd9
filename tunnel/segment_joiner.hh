// Joins neighbouring segments of a TCP flow to one frame, which costs the kernel little more than one of
// them. Segments are joined only if TSO would cut the frame into exactly these segments, and only if they
// arrived undamaged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tunnel/frame_header.hh"
#include "tunnel/ipv4_tcp.hh"

namespace ccgym::tunnel {

class SegmentJoiner {
 public:
  struct Frame {
    FrameHeader header{};
    std::span<const std::byte> bytes;  // valid until the next begin()
  };

  [[nodiscard]] bool empty() const { return bytes_ == 0; }

  // Starts a frame with any packet; there must be none.
  void begin(std::span<const std::byte> packet);

  // Adds the packet if it continues the frame; returns whether it does.
  bool join(std::span<const std::byte> packet);

  // Returns the frame and ends it.
  Frame take();

 private:
  static constexpr std::size_t kMaxFrameBytes = 65'535;

  [[nodiscard]] bool continues(const TcpPacket& next, std::span<const std::byte> packet) const;
  [[nodiscard]] bool is_unharmed(const TcpPacket& tcp, std::span<const std::byte> packet) const;
  FrameHeader complete_headers();

  std::vector<std::byte> frame_ = std::vector<std::byte>(kMaxFrameBytes);
  std::size_t bytes_{0};
  std::optional<TcpPacket> tcp_{};  // of the first packet
  bool open_{false};                // another segment may follow
  std::size_t segment_bytes_{0};    // payload of the first packet, and of all but the last
  std::size_t segments_{0};
};

}  // namespace ccgym::tunnel
