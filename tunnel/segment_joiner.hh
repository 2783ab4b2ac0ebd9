// Joins consecutive segments of a TCP flow into one frame, whose processing costs the kernel little more than
// that of one segment. Segments are joined only if TSO would cut the frame into the same segments, and only
// if their checksums are right.
#pragma once

#include <cstddef>
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

  // Begins a frame with a packet of any kind; only when empty().
  void begin(std::span<const std::byte> packet);

  // Adds the packet if it continues the frame; returns whether it does.
  bool join(std::span<const std::byte> packet);

  // Returns the frame and ends it.
  Frame take();

 private:
  static constexpr std::size_t kMaxFrameBytes = 65'535;

  [[nodiscard]] bool continues(const TcpPacket& next, std::span<const std::byte> packet) const;
  [[nodiscard]] bool has_valid_checksums(const TcpPacket& tcp, std::span<const std::byte> packet) const;
  FrameHeader complete_headers();

  std::vector<std::byte> frame_ = std::vector<std::byte>(kMaxFrameBytes);
  std::size_t bytes_{0};
  std::optional<TcpPacket> tcp_{};  // of the first packet
  bool open_{false};                // another segment may be joined
  std::size_t segment_bytes_{0};    // payload of the first segment, and of all others but the last
  std::size_t segments_{0};
};

}  // namespace ccgym::tunnel
