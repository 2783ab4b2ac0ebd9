#include "tunnel/segmenter.hh"

#include <algorithm>

namespace ccgym::tunnel {

void Segmenter::take(const FrameHeader& header, std::size_t frame_bytes) {
  frame_bytes_ = frame_bytes;
  at_ = 0;
  tcp_.reset();
  if ((header.gso_type & ~FrameHeader::kEcn) == FrameHeader::kWhole) {
    if ((header.flags & FrameHeader::kNeedsChecksum) != 0) complete_checksum(header);
    return;
  }
  tcp_ = read_tcp(std::span{frame_}.first(frame_bytes));
  segment_bytes_ = header.gso_size;
  if (tcp_ && segment_bytes_ > 0 && tcp_->header_bytes < frame_bytes)
    at_ = tcp_->header_bytes;
  else
    frame_bytes_ = 0;
}

// The checksum field already holds the sum of the pseudo header, which the kernel has put there.
void Segmenter::complete_checksum(const FrameHeader& header) {
  const std::size_t field = std::size_t{header.csum_start} + header.csum_offset;
  if (field + sizeof(uint16_t) > frame_bytes_ || header.csum_start > frame_bytes_) return;
  const auto covered = std::span{frame_}.first(frame_bytes_).subspan(header.csum_start);
  const uint16_t sum = checksum(covered);
  // In UDP, 0 means that there is no checksum (RFC 768).
  const uint16_t written = sum == 0 ? UINT16_MAX : sum;
  std::memcpy(&frame_[field], &written, sizeof written);
}

std::span<const std::byte> Segmenter::next() {
  if (!tcp_) {
    at_ = frame_bytes_;
    return std::span{frame_}.first(frame_bytes_);
  }
  const std::size_t payload_bytes = std::min(segment_bytes_, frame_bytes_ - at_);
  const std::span<std::byte> packet = std::span{packet_}.first(tcp_->header_bytes + payload_bytes);
  std::memcpy(packet.data(), frame_.data(), tcp_->header_bytes);
  std::memcpy(&packet[tcp_->header_bytes], &frame_[at_], payload_bytes);
  write_headers(packet, at_ == tcp_->header_bytes, at_ + payload_bytes == frame_bytes_);
  at_ += payload_bytes;
  return packet;
}

void Segmenter::write_headers(std::span<std::byte> packet, bool first, bool last) const {
  const std::size_t done = at_ - tcp_->header_bytes;
  iphdr ip = tcp_->ip;
  ip.id = htons(static_cast<uint16_t>(ntohs(ip.id) + done / segment_bytes_));
  write_ip(ip, packet, tcp_->ip_bytes);

  tcphdr tcp = tcp_->tcp;
  tcp.seq = htonl(tcp_->seq() + static_cast<uint32_t>(done));
  tcp.check = 0;
  const std::span<std::byte> segment = packet.subspan(tcp_->ip_bytes);
  std::memcpy(segment.data(), &tcp, sizeof tcp);
  if (!last) segment[13] &= static_cast<std::byte>(~(kFin | kPush));
  if (!first) segment[13] &= static_cast<std::byte>(~kCongestionWindowReduced);
  tcp.check = checksum(segment, pseudo_header_sum(ip, segment.size()));
  std::memcpy(&segment[offsetof(tcphdr, check)], &tcp.check, sizeof tcp.check);
}

}  // namespace ccgym::tunnel
