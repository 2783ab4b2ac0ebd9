#include "deploy/endpoint/datagram_batch.hh"

#include <netinet/udp.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "deploy/endpoint/errors.hh"

namespace ccgym {

namespace {

// Errors that are caused by ICMP messages about earlier datagrams, after which the flow goes on as after a
// loss.
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

constexpr int kEcnBits = 0b11;  // of the traffic class; both are set in the codepoint CE (RFC 3168)

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

// The value of the first control message of this level and type.
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

// Adds a control message to those in `block`, which has room for it.
template <class Value>
void add_control_value(msghdr& header, ControlBlock& block, int level, int type, const Value& value) {
  cmsghdr note{};
  note.cmsg_level = level;
  note.cmsg_type = type;
  note.cmsg_len = CMSG_LEN(sizeof(Value));
  std::byte* const place = block.bytes.data() + header.msg_controllen;
  std::memcpy(place, &note, sizeof note);
  std::memcpy(place + CMSG_LEN(0), &value, sizeof value);
  header.msg_control = block.bytes.data();
  header.msg_controllen += CMSG_SPACE(sizeof(Value));
}

// Errors of a kernel or a network card that does not segment trains, or not with this datagram size.
bool is_segmentation_refusal(int error) { return error == EIO || error == EINVAL || error == EMSGSIZE; }

}  // namespace

bool Origin::operator==(const Origin& other) const {
  if (peer_bytes != other.peer_bytes || local.has_value() != other.local.has_value()) return false;
  return std::memcmp(&peer, &other.peer, peer_bytes) == 0 &&
         (!local || std::memcmp(&*local, &*other.local, sizeof *local) == 0);
}

ReceiveBatch::ReceiveBatch() {
  parts_.reserve(kUsualDatagrams);
  for (std::size_t i = 0; i < kReceivedTrains; ++i) {
    vectors_[i] = {buffers_[i].data(), buffers_[i].size()};
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
  parts_.clear();
  const int trains = recvmmsg(socket, headers_.data(), kReceivedTrains, MSG_DONTWAIT, nullptr);
  refused_ = trains < 0 && errno == ECONNREFUSED;
  if (trains < 0 && !would_block(errno) && !is_network_error(errno)) check_system_call("receive", trains);
  for (int train = 0; train < trains; ++train) split(static_cast<std::size_t>(train));
  return parts_.size();
}

void ReceiveBatch::split(std::size_t train) {
  const std::size_t bytes = headers_[train].msg_len;
  const auto segment = control_value<int>(headers_[train].msg_hdr, IPPROTO_UDP, UDP_GRO);
  const std::size_t step =
      segment && *segment > 0 ? static_cast<std::size_t>(*segment) : std::max(bytes, std::size_t{1});
  for (std::size_t offset = 0; offset < bytes || offset == 0; offset += step)
    parts_.push_back({train, offset, std::min(step, bytes - offset)});
}

std::span<const std::byte> ReceiveBatch::datagram(std::size_t index) const {
  const Part& part = parts_[index];
  return std::span{buffers_[part.train]}.subspan(part.offset, part.bytes);
}

std::optional<Time> ReceiveBatch::arrived_at(std::size_t index) const {
  const msghdr& header = headers_[parts_[index].train].msg_hdr;
  const auto stamp = control_value<timespec>(header, SOL_SOCKET, SCM_TIMESTAMPNS);
  if (!stamp) return std::nullopt;
  return std::chrono::seconds{stamp->tv_sec} + std::chrono::nanoseconds{stamp->tv_nsec};
}

// The traffic class of a train is that of all its datagrams, because the kernel only joins datagrams of the
// same class.
bool ReceiveBatch::marked(std::size_t index) const {
  const msghdr& header = headers_[parts_[index].train].msg_hdr;
  const auto tos = control_value<uint8_t>(header, IPPROTO_IP, IP_TOS);
  const int traffic_class = tos ? *tos : control_value<int>(header, IPPROTO_IPV6, IPV6_TCLASS).value_or(0);
  return (traffic_class & kEcnBits) == kEcnBits;
}

Origin ReceiveBatch::origin(std::size_t index) const {
  const std::size_t train = parts_[index].train;
  const msghdr& header = headers_[train].msg_hdr;
  std::optional local = control_value<in6_pktinfo>(header, IPPROTO_IPV6, IPV6_PKTINFO);
  // The reply leaves by the interface that the routing table chooses; only a link-local address needs the
  // interface.
  if (local && !IN6_IS_ADDR_LINKLOCAL(&local->ipi6_addr)) local->ipi6_ifindex = 0;
  return {peers_[train], header.msg_namelen, local};
}

SendBatch::SendBatch(std::size_t datagrams, std::size_t datagram_bytes, bool trains)
    : capacity_(datagrams),
      slot_bytes_(datagram_bytes),
      bytes_((datagrams + 1) * datagram_bytes),
      controls_(datagrams),
      vectors_(datagrams),
      headers_(datagrams),
      segments_(trains) {
  trains_.reserve(datagrams);
}

void SendBatch::push(std::size_t bytes) { append(bytes, std::nullopt); }

void SendBatch::push(std::size_t bytes, const Origin& origin) { append(bytes, origin); }

void SendBatch::append(std::size_t bytes, const std::optional<Origin>& origin) {
  if (bytes > slot().size()) throw std::logic_error("a datagram is larger than its slot");
  if (trains_.size() > sent_trains_ && can_extend(trains_.back(), bytes, origin)) {
    ++trains_.back().datagrams;
  } else {
    trains_.push_back({end_, 1, bytes, origin});
  }
  ++datagrams_;
  end_ += bytes;
}

bool SendBatch::can_extend(const Train& train, std::size_t bytes, const std::optional<Origin>& origin) const {
  return segments_ && train.datagram_bytes == bytes && train.datagrams < kMaxTrainDatagrams &&
         (train.datagrams + 1) * bytes <= kMaxTrainBytes && train.origin == origin;
}

void SendBatch::prepare_header(std::size_t index) {
  Train& train = trains_[index];
  vectors_[index] = {bytes_.data() + train.offset, train.datagrams * train.datagram_bytes};
  msghdr& header = headers_[index].msg_hdr;
  header = {};
  header.msg_iov = &vectors_[index];
  header.msg_iovlen = 1;
  if (train.origin) {
    header.msg_name = &train.origin->peer;
    header.msg_namelen = train.origin->peer_bytes;
    if (train.origin->local)
      add_control_value(header, controls_[index], IPPROTO_IPV6, IPV6_PKTINFO, *train.origin->local);
  }
  if (train.datagrams > 1) {
    const auto segment_bytes = static_cast<uint16_t>(train.datagram_bytes);
    add_control_value(header, controls_[index], IPPROTO_UDP, UDP_SEGMENT, segment_bytes);
  }
}

// From now on every datagram is sent singly, including those that have not been sent yet.
void SendBatch::give_up_trains() {
  segments_ = false;
  std::vector<Train> single;
  single.reserve(capacity_);
  for (const Train& train : std::span{trains_}.subspan(sent_trains_))
    for (std::size_t i = 0; i < train.datagrams; ++i)
      single.push_back({train.offset + i * train.datagram_bytes, 1, train.datagram_bytes, train.origin});
  trains_ = std::move(single);
  sent_trains_ = 0;
}

void SendBatch::flush(int socket) {
  for (std::size_t index = sent_trains_; index < trains_.size(); ++index) prepare_header(index);
  while (sent_trains_ < trains_.size()) {
    const auto waiting = static_cast<unsigned>(trains_.size() - sent_trains_);
    const int sent = sendmmsg(socket, &headers_[sent_trains_], waiting, MSG_DONTWAIT);
    const std::size_t datagrams = trains_[sent_trains_].datagrams;
    if (sent >= 0) {
      sent_trains_ += static_cast<std::size_t>(sent);
    } else if (would_block(errno)) {
      return;
    } else if (datagrams > 1 && is_segmentation_refusal(errno)) {
      give_up_trains();
      return flush(socket);
    } else {
      ++sent_trains_;  // counts as a loss; the next train may be sent
      failed_ += datagrams;
    }
  }
  trains_.clear();
  sent_trains_ = datagrams_ = end_ = 0;
}

}  // namespace ccgym
