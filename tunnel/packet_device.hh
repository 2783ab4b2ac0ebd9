// The interface for reading packets from the TUN device and writing packets to it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tunnel/segment_joiner.hh"
#include "tunnel/segmenter.hh"

namespace ccgym::tunnel {

inline constexpr std::size_t kMaxDelivered = 64;  // packets between two flushes

class PacketDevice {
 public:
  PacketDevice() = default;
  PacketDevice(const PacketDevice&) = delete;
  PacketDevice& operator=(const PacketDevice&) = delete;
  virtual ~PacketDevice() = default;

  [[nodiscard]] virtual std::string_view kind() const = 0;  // shown to the user

  // The next packet to send, valid until the next call; nullopt if there is none. Never blocks. A packet
  // larger than the MTU (the command may have raised the device's) may be truncated, but is then still longer
  // than the MTU.
  virtual std::optional<std::span<const std::byte>> next() = 0;
  // Whether next() has packets that were already read, which poll(2) does not report.
  [[nodiscard]] virtual bool holds_packets() const { return false; }

  // Writes a received packet to the device, at flush() at the latest: until then its bytes must not change.
  // At most kMaxDelivered packets between two flushes.
  virtual void deliver(std::span<const std::byte> packet) = 0;
  virtual void flush() {}

  [[nodiscard]] std::size_t refused() const { return refused_; }  // frames that the kernel did not take

 protected:
  void count_write(bool succeeded) { refused_ += succeeded ? 0 : 1; }

 private:
  std::size_t refused_{0};
};

// One packet per system call, for kernels that lack what RingDevice needs.
class PlainDevice final : public PacketDevice {
 public:
  PlainDevice(int tun, std::size_t mtu) : tun_(tun), packet_(mtu + 1) {}

  [[nodiscard]] std::string_view kind() const override { return "plain"; }
  std::optional<std::span<const std::byte>> next() override;
  void deliver(std::span<const std::byte> packet) override;

 private:
  int tun_;
  std::vector<std::byte> packet_;
};

// Up to 64 KB of TCP per system call: the kernel leaves segmentation and checksums to this program (TSO), and
// accepts consecutive segments as one frame (GRO).
class OffloadDevice final : public PacketDevice {
 public:
  explicit OffloadDevice(int tun) : tun_(tun) {}

  [[nodiscard]] std::string_view kind() const override { return "offload"; }
  std::optional<std::span<const std::byte>> next() override;
  [[nodiscard]] bool holds_packets() const override { return segmenter_.holds_packets(); }
  void deliver(std::span<const std::byte> packet) override;
  void flush() override;

 private:
  bool read_frame();

  int tun_;
  Segmenter segmenter_{};
  SegmentJoiner joiner_{};
};

// The fastest device that this kernel supports. `offload`: as given to open_tun().
std::unique_ptr<PacketDevice> open_device(int tun, bool offload, std::size_t mtu);

}  // namespace ccgym::tunnel
