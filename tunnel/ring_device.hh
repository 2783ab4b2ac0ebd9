// The TUN device by io_uring: many packets in one system call, each unchanged.
//
// This saves system calls, and context switches as well: a process that a packet wakes, such as the receiver
// of a flow, runs when the call returns, once for all packets of the call.
#pragma once

#include <liburing.h>

#include <memory>
#include <vector>

#include "tunnel/packet_device.hh"

namespace ccgym::tunnel {

class RingDevice final : public PacketDevice {
 public:
  // Null if the kernel has no io_uring (before 5.1), forbids it, or cannot read a TUN device with it
  // (before 6.4).
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
  std::size_t slot_bytes_;  // the MTU and one more, which shows packets above the MTU
  io_uring ring_{};
  bool works_;  // ring_ has been set up
  std::vector<std::byte> buffer_;
  std::vector<std::span<const std::byte>> packets_{};  // read by the last system call
  std::size_t next_{0};                                // index into packets_ of the next one to hand out
  bool emptied_{false};    // the last call read fewer packets than requested: the device's queue is empty
  std::size_t requested_;  // number of packets that a call requests: twice what the last one read
  unsigned delivered_{0};  // packets since the last flush
};

}  // namespace ccgym::tunnel
