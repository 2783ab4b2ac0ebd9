#include "tunnel/packet_device.hh"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>

#include <functional>
#include <memory>

#include "deploy/endpoint/file_descriptor.hh"
#include "tunnel/ring_device.hh"

namespace ccgym::tunnel {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t kMtu = 1464;

Bytes packet_of(std::size_t number) {
  return Bytes(20 + number * 13 % (kMtu - 19), static_cast<std::byte>(number));
}

using Open = std::function<std::unique_ptr<PacketDevice>(int)>;

struct Kind {
  const char* name;
  Open open;
};

// A pair of sockets that preserve packets, as a TUN device does; the test takes the part of the kernel.
class PacketDeviceTest : public testing::TestWithParam<Kind> {
 protected:
  PacketDeviceTest() {
    std::array<int, 2> ends{};
    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data());
    tun_ = FileDescriptor{ends[0]};
    kernel_ = FileDescriptor{ends[1]};
    device_ = GetParam().open(tun_.number());
  }

  void SetUp() override {
    if (!device_) GTEST_SKIP() << "no io_uring here";
  }

  void kernel_sends(std::size_t number) {
    const Bytes packet = packet_of(number);
    ASSERT_EQ(send(kernel_.number(), packet.data(), packet.size(), 0), static_cast<ssize_t>(packet.size()));
  }

  Bytes kernel_receives() {
    Bytes packet(kMtu);
    const ssize_t bytes = recv(kernel_.number(), packet.data(), packet.size(), 0);
    packet.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
    return packet;
  }

  FileDescriptor tun_{-1};
  FileDescriptor kernel_{-1};
  std::unique_ptr<PacketDevice> device_{};
};

TEST_P(PacketDeviceTest, ReadsPacketsInOrderUntilNoneIsLeft) {
  for (const std::size_t waiting : {1U, 2U, 3U, 7U, 40U, 100U, 0U, 1U, 40U}) {
    for (std::size_t i = 0; i < waiting; ++i) kernel_sends(i);
    for (std::size_t i = 0; i < waiting;) {
      const auto packet = device_->next();
      if (!packet) continue;  // a device may say once that it is empty; poll(2) says that it is not
      EXPECT_EQ(Bytes(packet->begin(), packet->end()), packet_of(i++));
    }
    EXPECT_FALSE(device_->next());
    EXPECT_FALSE(device_->holds_packets());
  }
}

// The command may raise the MTU of the device: a truncated packet must not look like a whole one.
TEST_P(PacketDeviceTest, ShowsThatAPacketIsLargerThanTheMtu) {
  const Bytes packet(6 * kMtu);
  ASSERT_EQ(send(kernel_.number(), packet.data(), packet.size(), 0), static_cast<ssize_t>(packet.size()));
  const auto read = device_->next();
  ASSERT_TRUE(read);
  EXPECT_GT(read->size(), kMtu);
}

TEST_P(PacketDeviceTest, WritesPacketsInOrder) {
  std::vector<Bytes> packets;
  for (std::size_t i = 0; i < kMaxDelivered; ++i) packets.push_back(packet_of(i));
  for (const std::size_t count : {std::size_t{1}, kMaxDelivered, std::size_t{5}}) {
    for (std::size_t i = 0; i < count; ++i) device_->deliver(packets[i]);
    device_->flush();
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(kernel_receives(), packets[i]);
  }
  EXPECT_EQ(device_->refused(), 0U);
}

TEST_P(PacketDeviceTest, CountsWhatTheKernelRefuses) {
  signal(SIGPIPE, SIG_IGN);
  kernel_ = FileDescriptor{-1};
  const Bytes packet = packet_of(1);
  for (int i = 0; i < 3; ++i) device_->deliver(packet);
  device_->flush();
  EXPECT_EQ(device_->refused(), 3U);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, PacketDeviceTest,
    testing::Values(Kind{"plain", [](int tun) { return std::make_unique<PlainDevice>(tun, kMtu); }},
                    Kind{"ring", [](int tun) { return RingDevice::open(tun, kMtu); }}),
    [](const auto& kind) { return std::string{kind.param.name}; });

TEST(RingDevice, IsNoneWhereTheKernelCannotReadTheDeviceWithoutWaiting) {
  EXPECT_EQ(RingDevice::open(-1, kMtu), nullptr);
}

}  // namespace
}  // namespace ccgym::tunnel
