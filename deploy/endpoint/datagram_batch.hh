// Many datagrams in one system call, in buffers allocated once.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "transport/congestion_controller.hh"
#include "transport/wire.hh"

namespace ccgym {

inline constexpr std::size_t kBatchDatagrams = 64;

// Room for the kernel's notes on one datagram: its timestamp and the address it was sent to.
struct ControlBlock {
  alignas(
      cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(timespec)) + CMSG_SPACE(sizeof(in6_pktinfo))> bytes{};
};

// Where a datagram came from, and which of our addresses it was sent to: where its reply comes from.
struct Origin {
  sockaddr_storage peer{};
  socklen_t peer_bytes{};
  std::optional<in6_pktinfo> local{};
};

class ReceiveBatch {
 public:
  // For datagrams of up to `longest_bytes`, each with `headroom_bytes` of scratch memory before it.
  explicit ReceiveBatch(std::size_t longest_bytes = kDataBytes, std::size_t headroom_bytes = 0);

  // Takes what waits at the socket, up to a batch; returns how many. Never blocks. An error that the
  // network reported about an earlier datagram sets `refused` and is otherwise nothing.
  std::size_t receive(int socket);

  [[nodiscard]] std::span<const std::byte> datagram(std::size_t index) const;
  [[nodiscard]] std::span<std::byte> with_headroom(std::size_t index);  // the datagram and what is before it
  [[nodiscard]] std::optional<Time> arrived_at(std::size_t index) const;  // by the kernel, in real time
  [[nodiscard]] Origin origin(std::size_t index) const;
  [[nodiscard]] bool refused() const { return refused_; }  // nobody listens at the other end

 private:
  std::size_t headroom_bytes_;
  std::size_t slot_bytes_;  // one more than any of ours: a longer datagram does not pass for one of ours
  std::vector<std::byte> slots_;
  std::vector<sockaddr_storage> peers_{kBatchDatagrams};
  std::vector<ControlBlock> controls_{kBatchDatagrams};
  std::vector<iovec> vectors_{kBatchDatagrams};
  std::vector<mmsghdr> headers_{kBatchDatagrams};
  bool refused_{false};
};

class SendBatch {
 public:
  explicit SendBatch(std::size_t slot_bytes = kDataBytes);

  [[nodiscard]] bool full() const { return end_ == kBatchDatagrams; }
  [[nodiscard]] bool empty() const { return begin_ == end_; }
  [[nodiscard]] std::size_t failed() const { return failed_; }  // datagrams the host would not send

  // Where the next datagram is written; it holds zeros or an earlier datagram.
  [[nodiscard]] std::span<std::byte> slot() {
    return std::span{slots_}.subspan(end_ * slot_bytes_, slot_bytes_);
  }
  // `datagram` is a part of the slot.
  void push(std::span<const std::byte> datagram);                        // to the connected peer
  void push(std::span<const std::byte> datagram, const Origin& origin);  // back to where another came from

  // Hands everything to the kernel, or as much as its buffer takes: the rest waits for the next flush.
  void flush(int socket);

 private:
  std::size_t slot_bytes_;
  std::vector<std::byte> slots_;
  std::vector<Origin> origins_{kBatchDatagrams};
  std::vector<ControlBlock> controls_{kBatchDatagrams};
  std::vector<iovec> vectors_{kBatchDatagrams};
  std::vector<mmsghdr> headers_{kBatchDatagrams};
  std::size_t begin_{0};
  std::size_t end_{0};
  std::size_t failed_{0};
};

}  // namespace ccgym
