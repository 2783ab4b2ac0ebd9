// Cuts a frame of the kernel into packets, TCP segments of one size with checksums, as TSO does.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tunnel/frame_header.hh"
#include "tunnel/ipv4_tcp.hh"

namespace ccgym::tunnel {

class Segmenter {
 public:
  static constexpr std::size_t kMaxFrameBytes = 65'535;

  // Memory for the next frame; only while holds_packets() is false.
  [[nodiscard]] std::span<std::byte> buffer() { return frame_; }

  // Takes the frame that was written there. A frame that does not fit its header is dropped.
  void take(const FrameHeader& header, std::size_t frame_bytes);

  [[nodiscard]] bool holds_packets() const { return at_ < frame_bytes_; }

  // The next of the held packets; valid until the next call.
  std::span<const std::byte> next();

 private:
  void complete_checksum(const FrameHeader& header);
  void write_headers(std::span<std::byte> packet, bool first, bool last) const;

  std::vector<std::byte> frame_ = std::vector<std::byte>(kMaxFrameBytes);
  std::vector<std::byte> packet_ = std::vector<std::byte>(kMaxFrameBytes);
  std::size_t frame_bytes_{0};
  std::size_t at_{0};               // offset of the payload that has not been handed out yet
  std::size_t segment_bytes_{0};    // of payload
  std::optional<TcpPacket> tcp_{};  // the headers of the frame; absent: it is one packet
};

}  // namespace ccgym::tunnel
