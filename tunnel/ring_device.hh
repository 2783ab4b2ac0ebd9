// The TUN device by io_uring: many packets in one system call, each unchanged.
//
// This saves not only system calls but also the context switches that follow them: a process that a packet
// wakes, such as the receiver of a flow, runs when the call returns, which is once for all of the packets.
#pragma once

#include <liburing.h>

#include <memory>
#include <vector>

#include "tunnel/packet_device.hh"

namespace ccgym::tunnel {

class RingDevice final : public PacketDevice {
 public:
  // null: the kernel has no io_uring (5.1), forbids it, or cannot read a TUN device with it (6.4).
  static std::unique_ptr<RingDevice> open(int tun, std::size_t mtu);
  ~RingDevice() override;

  [[nodiscard]] std::string_view kind() const override { return "io_uring"; }
  std::optional<std::span<const std::byte>> next() override;
  [[nodiscard]] bool holds_packets() const override { return next_ < packets_.size(); }
  void deliver(std::span<const std::byte> packet) override;
  void flush() override;

 private:
  RingDevice(int tun, std::size_t mtu);
  [[nodiscard]] bool can_read();
  void read_waiting();

  int tun_;
  std::size_t slot_bytes_;  // the MTU and one byte more
  io_uring ring_{};
  bool works_;
  std::vector<std::byte> buffer_;
  std::vector<std::span<const std::byte>> packets_{};  // read by the last call
  std::size_t next_{0};                                // next of packets_
  bool emptied_{false};                                // the last call found fewer packets than it asked for
  std::size_t asked_;      // packets that a call asks for: twice what the last one found
  unsigned delivered_{0};  // since the last flush
};

}  // namespace ccgym::tunnel
