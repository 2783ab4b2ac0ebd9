// The interface of the TUN device for the path of the packets: packets in, packets out.
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

inline constexpr std::size_t kMostDelivered = 64;

class PacketDevice {
 public:
  PacketDevice() = default;
  PacketDevice(const PacketDevice&) = delete;
  PacketDevice& operator=(const PacketDevice&) = delete;
  virtual ~PacketDevice() = default;

  [[nodiscard]] virtual std::string_view kind() const = 0;  // for the user

  // The next packet to send, valid until the next call; nullopt: none waits. Never blocks. A packet larger
  // than the MTU, which the command may have raised, may be cut off, but is still longer than the MTU.
  virtual std::optional<std::span<const std::byte>> next() = 0;
  [[nodiscard]] virtual bool holds_packets() const { return false; }  // that poll(2) does not report

  // Gives a received packet to the kernel, at flush() at the latest: until then it must not change. At most
  // kMostDelivered of them before a flush.
  virtual void deliver(std::span<const std::byte> packet) = 0;
  virtual void flush() {}

  [[nodiscard]] std::size_t refused() const { return refused_; }  // frames that the kernel did not take

 protected:
  void count(bool taken) { refused_ += taken ? 0 : 1; }

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

// Up to 64 KB of TCP per system call: the kernel leaves segmentation and checksums to us (TSO), and takes
// neighbouring segments as one (GRO).
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
