// The driver of the real sender keeps the contract of congestion_controller.hh, with a peer that loses data,
// reorders ACKs, is silent for a while, and sends datagrams of other flows.
#include "deploy/endpoint/udp_flow.hh"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "agents/controllers/make_controller.hh"
#include "deploy/endpoint/address.hh"
#include "deploy/endpoint/clock.hh"
#include "deploy/endpoint/datagram_batch.hh"
#include "deploy/endpoint/udp_socket.hh"
#include "deploy/endpoint/wait.hh"
#include "tests/cpp/transport/driver_contract.hh"
#include "transport/wire.hh"

namespace ccgym {
namespace {

constexpr uint64_t kFlow = 7;
constexpr int64_t kPackets = 600;
constexpr Time kSilence = std::chrono::milliseconds{300};  // a time-out, and a spurious one
constexpr Time kMaxDuration = std::chrono::seconds{20};

uint16_t port_of(int socket) {
  sockaddr_in bound{};
  socklen_t bytes = sizeof bound;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &bytes) != 0) return 0;
  return ntohs(bound.sin_port);
}

// At most 20 ms, so that the thread sees the request to end, and that held ACKs are released after losses.
void wait_a_moment(int socket) {
  pollfd readable{.fd = socket, .events = POLLIN, .revents = 0};
  poll(&readable, 1, 20);
}

// A receiver in a thread of its own, which reorders and omits ACKs.
class BadPath {
 public:
  BadPath() = default;
  BadPath(const BadPath&) = delete;
  BadPath& operator=(const BadPath&) = delete;
  ~BadPath() {
    ends_ = true;
    thread_.join();
  }

  [[nodiscard]] Address address() const { return {"127.0.0.1", port_of(socket_.number())}; }

 private:
  void serve() {
    while (!ends_) {
      wait_a_moment(socket_.number());
      const std::size_t count = incoming_.receive(socket_.number());
      for (std::size_t i = 0; i < count; ++i) {
        const std::optional<Datagram> datagram = parse(incoming_.datagram(i));
        if (const Data* data = datagram ? std::get_if<Data>(&*datagram) : nullptr)
          answer(data->seq, incoming_.origin(i));
      }
      // No packet came: the sender may wait for the held ACKs.
      if (count == 0) release(std::numeric_limits<uint64_t>::max());
      outgoing_.flush(socket_.number());
    }
  }

  void answer(uint64_t seq, const Origin& sender) {
    sender_ = sender;
    if (seq == 300) silent_until_ = monotonic_now() + kSilence;
    if (seq % 29 == 5) return;  // lost
    held_back_.emplace(++received_ + held_back_by(seq), seq);
    release(received_);
    if (seq % 31 == 0) acknowledge(kFlow + 1, seq);
    if (seq % 37 == 0) acknowledge(kFlow, seq + 1'000'000);  // never sent
    if (seq % 41 == 0) acknowledge(kFlow, seq / 2);          // once more
  }

  // After how many further packets the ACK is sent: long enough that some packets are declared lost.
  static uint64_t held_back_by(uint64_t seq) {
    if (seq % 53 == 1) return 80;
    return seq % 7 == 3 ? 5 : 0;
  }

  // Sends the ACKs that are due after so many packets; none during the silence.
  void release(uint64_t received) {
    while (!held_back_.empty() && held_back_.begin()->first <= received && monotonic_now() >= silent_until_) {
      acknowledge(kFlow, held_back_.begin()->second);
      held_back_.erase(held_back_.begin());
    }
  }

  void acknowledge(uint64_t flow, uint64_t seq) {
    if (outgoing_.full()) outgoing_.flush(socket_.number());
    std::ranges::copy(serialize(Ack{flow, seq, monotonic_now(), received_, 0}), outgoing_.slot().begin());
    outgoing_.push(kAckBytes, sender_);
  }

  FileDescriptor socket_{bind_udp({"127.0.0.1", 0})};
  ReceiveBatch incoming_{};
  SendBatch outgoing_{64, kAckBytes};
  Origin sender_{};
  Time silent_until_{};
  uint64_t received_{0};
  std::multimap<uint64_t, uint64_t> held_back_{};  // sequence numbers, by when they are due
  std::atomic<bool> ends_{false};
  std::thread thread_{[this] { serve(); }};  // last: it uses all the others
};

class RealSender : public testing::TestWithParam<std::string> {};

TEST_P(RealSender, MeetsItsContractOverABadPath) {
  StopSignals stop;
  const BadPath path;
  const FileDescriptor socket = connect_udp(path.address());
  DriverContract contract{make_controller(GetParam(), {.packet_bytes = kDataBytes})};
  UdpFlow flow{socket, contract, kFlow, Traffic{{.packets = kPackets}, /*seed=*/1}};
  flow.run(kMaxDuration, stop);
  EXPECT_EQ(contract.violations(), std::vector<std::string>{});
  EXPECT_GE(flow.sender().delivered_packets(), kPackets);
  EXPECT_GT(flow.ignored_datagrams(), 0U);
}

TEST_P(RealSender, MeetsItsContractWhereTheApplicationPauses) {
  StopSignals stop;
  const BadPath path;
  const FileDescriptor socket = connect_udp(path.address());
  DriverContract contract{make_controller(GetParam(), {.packet_bytes = kDataBytes})};
  const TrafficSpec pauses{.packets = kPackets,
                           .mean_on = std::chrono::milliseconds{2},
                           .mean_off = std::chrono::milliseconds{20}};
  UdpFlow flow{socket, contract, kFlow, Traffic{pauses, /*seed=*/1}};
  flow.run(kMaxDuration, stop);
  EXPECT_EQ(contract.violations(), std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(Schemes, RealSender, testing::Values("fixed:20", "cubic", "copa", "bbr", "sprout"),
                         [](const auto& scheme) { return scheme.param.substr(0, scheme.param.find(':')); });

// The datagrams of a batch arrive in order and unchanged.
class Batches : public testing::TestWithParam<bool> {
 protected:
  [[nodiscard]] std::vector<std::string> arrived() {
    std::vector<std::string> datagrams;
    wait_a_moment(receiver_.number());
    const std::size_t count = incoming_.receive(receiver_.number());
    for (std::size_t i = 0; i < count; ++i) {
      const std::span<const std::byte> bytes = incoming_.datagram(i);
      datagrams.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    return datagrams;
  }

  FileDescriptor receiver_{bind_udp({"127.0.0.1", 0})};
  FileDescriptor sender_{connect_udp({"127.0.0.1", port_of(receiver_.number())})};
  ReceiveBatch incoming_{};
};

void push(SendBatch& batch, const std::string& datagram) {
  std::ranges::copy(std::as_bytes(std::span{datagram}), batch.slot().begin());
  batch.push(datagram.size());
}

TEST_P(Batches, ArriveWholeAndInOrder) {
  std::vector<std::string> sent;
  for (const std::size_t bytes : {1400, 1400, 1400, 38, 1400, 14, 14, 700})
    sent.emplace_back(bytes, static_cast<char>('a' + sent.size()));
  SendBatch batch{sent.size(), 1436, GetParam()};
  for (const std::string& datagram : sent) {
    EXPECT_FALSE(batch.full());
    push(batch, datagram);
  }
  EXPECT_TRUE(batch.full());
  batch.flush(sender_.number());
  EXPECT_TRUE(batch.empty());
  EXPECT_EQ(batch.failed(), 0U);
  EXPECT_EQ(arrived(), sent);
}

TEST_P(Batches, CountWhatTheHostDoesNotSendAndGoOn) {
  SendBatch batch{2, 70'000, GetParam()};
  push(batch, std::string(66'000, 'x'));  // more than a datagram holds
  push(batch, "small");
  batch.flush(sender_.number());
  EXPECT_TRUE(batch.empty());
  EXPECT_EQ(batch.failed(), 1U);
  EXPECT_EQ(arrived(), std::vector<std::string>{"small"});
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutTrains, Batches, testing::Bool());

TEST(SendBatch, RefusesWhatItHasNoRoomFor) {
  SendBatch batch{1, kAckBytes};
  EXPECT_THROW(batch.push(batch.slot().size() + 1), std::logic_error);
  batch.push(batch.slot().size());
  EXPECT_THROW(static_cast<void>(batch.slot()), std::logic_error);
  EXPECT_THROW(batch.push(1), std::logic_error);
}

}  // namespace
}  // namespace ccgym
