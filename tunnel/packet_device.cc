#include "tunnel/packet_device.hh"

#include <sys/uio.h>
#include <unistd.h>

#include <array>

#include "tunnel/ring_device.hh"

namespace ccgym::tunnel {

std::optional<std::span<const std::byte>> PlainDevice::next() {
  const ssize_t bytes = read(tun_, packet_.data(), packet_.size());
  if (bytes <= 0) return std::nullopt;
  return std::span{packet_}.first(static_cast<std::size_t>(bytes));
}

void PlainDevice::deliver(std::span<const std::byte> packet) {
  count_write(write(tun_, packet.data(), packet.size()) >= 0);
}

bool OffloadDevice::read_frame() {
  FrameHeader header{};
  const std::span<std::byte> frame = segmenter_.buffer();
  const std::array<iovec, 2> parts{iovec{&header, sizeof header}, iovec{frame.data(), frame.size()}};
  const ssize_t bytes = readv(tun_, parts.data(), parts.size());
  if (bytes <= static_cast<ssize_t>(sizeof header)) return false;
  segmenter_.take(header, static_cast<std::size_t>(bytes) - sizeof header);
  return true;
}

std::optional<std::span<const std::byte>> OffloadDevice::next() {
  while (!segmenter_.holds_packets())
    if (!read_frame()) return std::nullopt;
  return segmenter_.next();
}

void OffloadDevice::deliver(std::span<const std::byte> packet) {
  if (joiner_.join(packet)) return;
  flush();
  joiner_.begin(packet);
}

void OffloadDevice::flush() {
  if (joiner_.empty()) return;
  const SegmentJoiner::Frame frame = joiner_.take();
  const std::array<iovec, 2> parts{iovec{const_cast<FrameHeader*>(&frame.header), sizeof frame.header},
                                   iovec{const_cast<std::byte*>(frame.bytes.data()), frame.bytes.size()}};
  count_write(writev(tun_, parts.data(), parts.size()) >= 0);
}

std::unique_ptr<PacketDevice> open_device(int tun, bool offload, std::size_t mtu) {
  if (offload) return std::make_unique<OffloadDevice>(tun);
  if (auto ring = RingDevice::open(tun, mtu)) return ring;
  return std::make_unique<PlainDevice>(tun, mtu);
}

}  // namespace ccgym::tunnel
