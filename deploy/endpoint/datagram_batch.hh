// Sends and receives many datagrams in one system call, in buffers that are allocated once.
//
// Consecutive datagrams of one size to one destination form a train. The kernel accepts a whole train
// (UDP_SEGMENT) and may return one as a whole (UDP_GRO): the network stack then processes it like a single
// datagram.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "transport/units.hh"

namespace ccgym {

inline constexpr std::size_t kMaxTrainDatagrams = 64;  // sent in a train: UDP_MAX_SEGMENTS before Linux 6.9
inline constexpr std::size_t kMaxTrainBytes = 65'507;  // the longest UDP datagram over IPv4
inline constexpr std::size_t kReceivedTrains = 16;     // in one system call
// The usual maximum of datagrams received in one system call.
inline constexpr std::size_t kUsualDatagrams = kReceivedTrains * kMaxTrainDatagrams;

// Memory for the control messages of a train: its timestamp, its destination address, the size of its
// datagrams and their traffic class.
struct ControlBlock {
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(timespec)) + CMSG_SPACE(sizeof(in6_pktinfo)) +
                                             2 * CMSG_SPACE(sizeof(int))> bytes{};
};

// The source address of a datagram, and the local address that it was sent to, from which the reply is sent.
struct Origin {
  sockaddr_storage peer{};
  socklen_t peer_bytes{};
  std::optional<in6_pktinfo> local{};

  [[nodiscard]] bool operator==(const Origin& other) const;
  [[nodiscard]] std::span<const std::byte> peer_address() const {
    return std::as_bytes(std::span{&peer, 1}).first(peer_bytes);
  }
};

class ReceiveBatch {
 public:
  ReceiveBatch();

  // Receives the datagrams that wait at the socket, up to kReceivedTrains trains; returns their number, which
  // may exceed kUsualDatagrams, because trains of other programs may be longer (since Linux 6.9 a local train
  // has up to 128 datagrams). Never blocks. Errors that the network reported about an earlier datagram are
  // ignored; refused() tells whether it was "connection refused". Throws std::system_error for all other
  // errors.
  std::size_t receive(int socket);

  [[nodiscard]] std::span<const std::byte> datagram(std::size_t index) const;
  // The kernel's receive timestamp, by the real-time clock; absent if the socket does not ask for timestamps.
  [[nodiscard]] std::optional<Time> arrived_at(std::size_t index) const;
  [[nodiscard]] Origin origin(std::size_t index) const;
  [[nodiscard]] bool marked(std::size_t index) const;  // whether it carries the ECN codepoint CE (RFC 3168)
  [[nodiscard]] bool refused() const { return refused_; }  // no program listens at the other end

 private:
  struct Part {  // a datagram within a train
    std::size_t train{};
    std::size_t offset{};
    std::size_t bytes{};
  };
  using TrainBuffer = std::array<std::byte, 1 << 16>;

  void split(std::size_t train);

  std::vector<TrainBuffer> buffers_{kReceivedTrains};
  std::vector<sockaddr_storage> peers_{kReceivedTrains};
  std::vector<ControlBlock> controls_{kReceivedTrains};
  std::vector<iovec> vectors_{kReceivedTrains};
  std::vector<mmsghdr> headers_{kReceivedTrains};
  std::vector<Part> parts_{};
  bool refused_{false};
};

class SendBatch {
 public:
  // Memory for `datagrams` datagrams of up to `datagram_bytes`. Without `trains` each is sent singly.
  SendBatch(std::size_t datagrams, std::size_t datagram_bytes, bool trains = true);

  [[nodiscard]] bool full() const { return datagrams_ == capacity_; }
  [[nodiscard]] bool empty() const { return datagrams_ == 0; }
  [[nodiscard]] std::size_t failed() const { return failed_; }  // datagrams that the system refused to send

  // The memory for the next datagram, which holds zeros or an earlier datagram. Throws std::logic_error if
  // full().
  [[nodiscard]] std::span<std::byte> slot() {
    if (full()) throw std::logic_error("a batch that is full takes no more datagrams");
    return std::span{bytes_}.subspan(end_, slot_bytes_);
  }
  // Adds the datagram that was written to slot(). Throws std::logic_error if full() or if it is longer than
  // the slot.
  void push(std::size_t bytes);                        // to the connected peer
  void push(std::size_t bytes, const Origin& origin);  // back to the origin of a datagram

  // Sends all datagrams, or as many as the socket buffer takes; the others wait for the next flush.
  void flush(int socket);

 private:
  struct Train {
    std::size_t offset{};
    std::size_t datagrams{};
    std::size_t datagram_bytes{};
    std::optional<Origin> origin{};  // absent: to the connected peer
  };

  void append(std::size_t bytes, const std::optional<Origin>& origin);
  [[nodiscard]] bool can_extend(const Train& train, std::size_t bytes,
                                const std::optional<Origin>& origin) const;
  void prepare_header(std::size_t train);
  void give_up_trains();

  std::size_t capacity_;
  std::size_t slot_bytes_;
  std::vector<std::byte> bytes_;
  std::vector<Train> trains_{};
  std::vector<ControlBlock> controls_;
  std::vector<iovec> vectors_;
  std::vector<mmsghdr> headers_;
  std::size_t sent_trains_{0};
  std::size_t datagrams_{0};  // pushed since the batch was last empty
  std::size_t end_{0};        // bytes pushed since the batch was last empty
  std::size_t failed_{0};
  bool segments_;  // trains are used: they are wanted, and the kernel has not refused one
};

}  // namespace ccgym
