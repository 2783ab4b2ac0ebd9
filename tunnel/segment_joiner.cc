#include "tunnel/segment_joiner.hh"

namespace ccgym::tunnel {

namespace {

constexpr std::size_t kTypeOfServiceAt = 1;
constexpr std::size_t kTcpAckAt = 8;
constexpr std::size_t kTcpOptionsAt = 20;

bool same(std::span<const std::byte> one, std::span<const std::byte> other, std::size_t at,
          std::size_t bytes) {
  return std::memcmp(&one[at], &other[at], bytes) == 0;
}

// Only data: no SYN, FIN, RST, URG or ECN flags; PSH is allowed.
bool is_plain_data(uint8_t flags) { return (flags & ~kPush) == kAck; }

}  // namespace

void SegmentJoiner::begin(std::span<const std::byte> packet) {
  bytes_ = packet.size();
  std::memcpy(frame_.data(), packet.data(), bytes_);
  segments_ = 1;
  tcp_ = read_tcp(packet);
  open_ = tcp_ && tcp_->header_bytes < bytes_ && tcp_->flags(packet) == kAck &&
          has_valid_checksums(*tcp_, packet);
  if (open_) segment_bytes_ = bytes_ - tcp_->header_bytes;
}

bool SegmentJoiner::join(std::span<const std::byte> packet) {
  if (empty() || !open_) return false;
  const std::optional<TcpPacket> next = read_tcp(packet);
  if (!next || !continues(*next, packet) || !has_valid_checksums(*next, packet)) return false;
  const auto payload = packet.subspan(next->header_bytes);
  std::memcpy(&frame_[bytes_], payload.data(), payload.size());
  bytes_ += payload.size();
  ++segments_;
  const uint8_t flags = next->flags(packet);
  frame_[tcp_->ip_bytes + 13] = std::byte{flags};
  open_ = flags == kAck && payload.size() == segment_bytes_;
  return true;
}

bool SegmentJoiner::continues(const TcpPacket& next, std::span<const std::byte> packet) const {
  const std::size_t payload_bytes = packet.size() - next.header_bytes;
  if (next.ip_bytes != sizeof(iphdr) || tcp_->ip_bytes != sizeof(iphdr) ||
      next.header_bytes != tcp_->header_bytes || payload_bytes == 0 || payload_bytes > segment_bytes_ ||
      bytes_ + payload_bytes > kMaxFrameBytes || !is_plain_data(next.flags(packet)))
    return false;
  const auto done = static_cast<uint32_t>(bytes_ - tcp_->header_bytes);
  const std::size_t options_at = next.ip_bytes + kTcpOptionsAt;
  return next.seq() == tcp_->seq() + done && next.ip.frag_off == tcp_->ip.frag_off &&
         next.ip.ttl == tcp_->ip.ttl && same(frame_, packet, kTypeOfServiceAt, 1) &&
         same(frame_, packet, offsetof(iphdr, saddr), 2 * sizeof(in_addr)) &&
         next.tcp.source == tcp_->tcp.source && next.tcp.dest == tcp_->tcp.dest &&
         same(frame_, packet, next.ip_bytes + kTcpAckAt, sizeof(uint32_t)) &&
         next.tcp.window == tcp_->tcp.window &&
         same(frame_, packet, options_at, next.header_bytes - options_at);
}

bool SegmentJoiner::has_valid_checksums(const TcpPacket& tcp, std::span<const std::byte> packet) const {
  const auto segment = packet.subspan(tcp.ip_bytes);
  return ntohs(tcp.ip.tot_len) == packet.size() && checksum(packet.first(tcp.ip_bytes)) == 0 &&
         checksum(segment, pseudo_header_sum(tcp.ip, segment.size())) == 0;
}

FrameHeader SegmentJoiner::complete_headers() {
  const std::span<std::byte> frame = std::span{frame_}.first(bytes_);
  write_ip(tcp_->ip, frame, tcp_->ip_bytes);
  const uint16_t partial = fold(pseudo_header_sum(tcp_->ip, bytes_ - tcp_->ip_bytes));
  std::memcpy(&frame[tcp_->ip_bytes + offsetof(tcphdr, check)], &partial, sizeof partial);
  FrameHeader header{};
  header.flags = FrameHeader::kNeedsChecksum;
  header.gso_type = FrameHeader::kTcp4;
  header.hdr_len = static_cast<uint16_t>(tcp_->header_bytes);
  header.gso_size = static_cast<uint16_t>(segment_bytes_);
  header.csum_start = static_cast<uint16_t>(tcp_->ip_bytes);
  header.csum_offset = offsetof(tcphdr, check);
  return header;
}

SegmentJoiner::Frame SegmentJoiner::take() {
  const Frame frame{segments_ > 1 ? complete_headers() : FrameHeader{}, std::span{frame_}.first(bytes_)};
  bytes_ = 0;
  return frame;
}

}  // namespace ccgym::tunnel
