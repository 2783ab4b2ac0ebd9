#include "deploy/endpoint/datagram_batch.hh"

#include <cerrno>
#include <cstring>

#include "deploy/endpoint/errors.hh"

namespace ccgym {

namespace {

// What an ICMP message about an earlier datagram becomes: the flow goes on as after any loss.
bool is_network_error(int error) {
  switch (error) {
    case ECONNREFUSED:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EHOSTDOWN:
    case ENETDOWN:
    case ENONET:
    case ENOPROTOOPT:
    case EOPNOTSUPP:
    case EMSGSIZE:
    case EACCES:
    case EPROTO:
      return true;
    default:
      return false;
  }
}

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

template <class Value>
std::optional<Value> control_value(const msghdr& header, int level, int type) {
  msghdr walked = header;
  for (cmsghdr* note = CMSG_FIRSTHDR(&walked); note != nullptr; note = CMSG_NXTHDR(&walked, note)) {
    if (note->cmsg_level != level || note->cmsg_type != type) continue;
    Value value{};
    std::memcpy(&value, CMSG_DATA(note), sizeof value);
    return value;
  }
  return std::nullopt;
}

}  // namespace

ReceiveBatch::ReceiveBatch(std::size_t longest_bytes, std::size_t headroom_bytes)
    : headroom_bytes_(headroom_bytes),
      slot_bytes_(headroom_bytes + longest_bytes + 1),
      slots_(kBatchDatagrams * slot_bytes_) {
  for (std::size_t i = 0; i < kBatchDatagrams; ++i) {
    vectors_[i] = {&slots_[i * slot_bytes_ + headroom_bytes], longest_bytes + 1};
    headers_[i].msg_hdr.msg_name = &peers_[i];
    headers_[i].msg_hdr.msg_iov = &vectors_[i];
    headers_[i].msg_hdr.msg_iovlen = 1;
    headers_[i].msg_hdr.msg_control = controls_[i].bytes.data();
  }
}

std::size_t ReceiveBatch::receive(int socket) {
  for (mmsghdr& header : headers_) {
    header.msg_hdr.msg_namelen = sizeof(sockaddr_storage);
    header.msg_hdr.msg_controllen = sizeof(ControlBlock);
  }
  const int count = recvmmsg(socket, headers_.data(), kBatchDatagrams, MSG_DONTWAIT, nullptr);
  refused_ = count < 0 && errno == ECONNREFUSED;
  if (count >= 0) return static_cast<std::size_t>(count);
  if (!would_block(errno) && !is_network_error(errno)) check_system_call("receive", count);
  return 0;
}

std::span<const std::byte> ReceiveBatch::datagram(std::size_t index) const {
  return std::span{slots_}.subspan(index * slot_bytes_ + headroom_bytes_, headers_[index].msg_len);
}

std::span<std::byte> ReceiveBatch::with_headroom(std::size_t index) {
  return std::span{slots_}.subspan(index * slot_bytes_, headroom_bytes_ + headers_[index].msg_len);
}

std::optional<Time> ReceiveBatch::arrived_at(std::size_t index) const {
  const auto stamp = control_value<timespec>(headers_[index].msg_hdr, SOL_SOCKET, SCM_TIMESTAMPNS);
  if (!stamp) return std::nullopt;
  return std::chrono::seconds{stamp->tv_sec} + std::chrono::nanoseconds{stamp->tv_nsec};
}

Origin ReceiveBatch::origin(std::size_t index) const {
  const msghdr& header = headers_[index].msg_hdr;
  std::optional local = control_value<in6_pktinfo>(header, IPPROTO_IPV6, IPV6_PKTINFO);
  // The route back is the routing table's business, except where the address alone names no link.
  if (local && !IN6_IS_ADDR_LINKLOCAL(&local->ipi6_addr)) local->ipi6_ifindex = 0;
  return {peers_[index], header.msg_namelen, local};
}

SendBatch::SendBatch(std::size_t slot_bytes) : slot_bytes_(slot_bytes), slots_(kBatchDatagrams * slot_bytes) {
  for (std::size_t i = 0; i < kBatchDatagrams; ++i) {
    headers_[i].msg_hdr.msg_iov = &vectors_[i];
    headers_[i].msg_hdr.msg_iovlen = 1;
  }
}

void SendBatch::push(std::span<const std::byte> datagram) {
  // iovec has no const; the kernel only reads it.
  vectors_[end_] = {const_cast<std::byte*>(datagram.data()), datagram.size()};
  ++end_;
}

void SendBatch::push(std::span<const std::byte> datagram, const Origin& origin) {
  msghdr& header = headers_[end_].msg_hdr;
  origins_[end_] = origin;
  header.msg_name = &origins_[end_].peer;
  header.msg_namelen = origin.peer_bytes;
  if (origin.local) {
    header.msg_control = controls_[end_].bytes.data();
    header.msg_controllen = CMSG_SPACE(sizeof(in6_pktinfo));
    cmsghdr* note = CMSG_FIRSTHDR(&header);
    note->cmsg_level = IPPROTO_IPV6;
    note->cmsg_type = IPV6_PKTINFO;
    note->cmsg_len = CMSG_LEN(sizeof(in6_pktinfo));
    std::memcpy(CMSG_DATA(note), &*origin.local, sizeof(in6_pktinfo));
  }
  push(datagram);
}

void SendBatch::flush(int socket) {
  while (begin_ < end_) {
    const int sent = sendmmsg(socket, &headers_[begin_], static_cast<unsigned>(end_ - begin_), MSG_DONTWAIT);
    if (sent >= 0) {
      begin_ += static_cast<std::size_t>(sent);
    } else if (would_block(errno)) {
      return;
    } else {
      ++begin_;  // whatever this one suffered from, the next may go: a loss like any other
      ++failed_;
    }
  }
  begin_ = end_ = 0;
}

}  // namespace ccgym
