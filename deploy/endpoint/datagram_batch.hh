// Many datagrams in one system call, in buffers that are allocated once.
//
// Datagrams of one size to one destination form a train. The kernel takes a whole train (UDP_SEGMENT) and may
// hand one over whole (UDP_GRO), which saves the network stack's work for all but one of its datagrams.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "transport/congestion_controller.hh"

namespace ccgym {

inline constexpr std::size_t kMaxTrainDatagrams = 64;  // of ours: UDP_MAX_SEGMENTS before Linux 6.9
inline constexpr std::size_t kMaxTrainBytes = 65'507;  // what fits into one UDP datagram over IPv4
inline constexpr std::size_t kReceivedTrains = 16;     // in one system call
inline constexpr std::size_t kUsualDatagrams =
    kReceivedTrains * kMaxTrainDatagrams;  // received at once, usually

// Room for the kernel's control messages of a train: its timestamp, the address that it was sent to, the size
// of its datagrams and their traffic class.
struct ControlBlock {
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(timespec)) + CMSG_SPACE(sizeof(in6_pktinfo)) +
                                             2 * CMSG_SPACE(sizeof(int))> bytes{};
};

// Where a datagram came from, and which of our addresses it was sent to: the reply comes from that one.
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

  // Takes the datagrams that wait at the socket, up to a batch; returns their number, which may be above
  // kUsualDatagrams: trains of other senders may be longer than ours (a local one has up to 128 datagrams
  // since Linux 6.9). Never blocks. An error that the network reported about an earlier datagram sets
  // `refused` and is otherwise ignored.
  std::size_t receive(int socket);

  [[nodiscard]] std::span<const std::byte> datagram(std::size_t index) const;
  [[nodiscard]] std::optional<Time> arrived_at(
      std::size_t index) const;  // stamped by the kernel, in real time
  [[nodiscard]] Origin origin(std::size_t index) const;
  [[nodiscard]] bool marked(std::size_t index) const;      // "congestion experienced": RFC 3168
  [[nodiscard]] bool refused() const { return refused_; }  // no program listens at the other end

 private:
  struct Part {
    std::size_t train{};
    std::size_t offset{};
    std::size_t bytes{};
  };
  using TrainBuffer = std::array<std::byte, 1 << 16>;

  void cut(std::size_t train);

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
  // Room for so many datagrams of so many bytes at most. Without `trains`, each is sent singly.
  SendBatch(std::size_t datagrams, std::size_t datagram_bytes, bool trains = true);

  [[nodiscard]] bool full() const { return datagrams_ == capacity_; }
  [[nodiscard]] bool empty() const { return datagrams_ == 0; }
  [[nodiscard]] std::size_t failed() const { return failed_; }  // datagrams that the host refused to send

  // Where the next datagram is written; it holds zeros or an earlier datagram. Throws std::logic_error: full.
  [[nodiscard]] std::span<std::byte> slot() {
    if (full()) throw std::logic_error("a batch that is full takes no more datagrams");
    return std::span{bytes_}.subspan(end_, slot_bytes_);
  }
  // Adds what was written there. Throws std::logic_error: full, or longer than the slot.
  void push(std::size_t bytes);                        // to the connected peer
  void push(std::size_t bytes, const Origin& origin);  // back to the origin of a datagram

  // Hands all datagrams to the kernel, or as many as its buffer takes; the rest waits for the next flush.
  void flush(int socket);

 private:
  struct Train {
    std::size_t offset{};
    std::size_t datagrams{};
    std::size_t datagram_bytes{};
    std::optional<Origin> origin{};  // absent: to the connected peer
  };

  void append(std::size_t bytes, const std::optional<Origin>& origin);
  [[nodiscard]] bool takes(const Train& train, std::size_t bytes, const std::optional<Origin>& origin) const;
  void address(std::size_t train);
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
  std::size_t end_{0};        // of the bytes pushed
  std::size_t failed_{0};
  bool segments_;  // trains are wanted, and the kernel has not refused one yet
};

}  // namespace ccgym
