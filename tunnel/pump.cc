#include "tunnel/pump.hh"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "deploy/endpoint/clock.hh"
#include "deploy/endpoint/errors.hh"

namespace ccgym::tunnel {

namespace {

constexpr std::size_t kBatch = 64;  // packets

constexpr Time kRefusedLimit = std::chrono::seconds{3};  // of silence, if the peer is reported as unreachable

}  // namespace

Pump::Pump(const FileDescriptor& socket, const Inside& inside, PacketDevice& device, Connection& connection,
           const Logs& logs, StopSignals& stop)
    : socket_(socket.number()),
      tun_(inside.tun()),
      device_(device),
      command_(inside.process()),
      protocol_(*connection.protocol),
      peer_(connection.peer),
      outer_headers_(outer_header_bytes(connection.peer)),
      mtu_(static_cast<std::size_t>(connection.settings.mtu)),
      logs_(logs),
      stop_(stop),
      scratch_(kMaxDelivered * (mtu_ + kMaxOverheadBytes)),
      outgoing_(kBatch, std::max(mtu_ + kMaxOverheadBytes, kMaxControlBytes)),
      now_(monotonic_now()),
      last_heard_(now_),
      last_sent_(now_),
      last_keep_alive_(now_) {}

Ending Pump::run() {
  while (true) {
    const Ready ready = wait();
    now_ = monotonic_now();
    if (ready.socket) receive_waiting();
    if (ready.device) send_waiting();
    keep_alive();
    outgoing_.flush(socket_);
    for (PacketLog* log : {logs_.ingress, logs_.egress})
      if (log != nullptr) log->flush_due(now_);
    if (ready.stop || ready.command_ended) {
      say_bye();
      return ready.stop ? Ending::stopped : Ending::command_ended;
    }
    if (ready.device_gone) return Ending::device_gone;
    if (bye_) return Ending::peer_said_bye;
    if (peer_is_dead()) return Ending::peer_fell_silent;
  }
}

Pump::Ready Pump::wait() {
  // While the socket takes no datagrams, no packets are read, so that the device's queue is the only one of
  // the tunnel.
  const bool blocked = !outgoing_.empty();
  std::array<pollfd, 4> polled{pollfd{tun_, static_cast<short>(blocked ? 0 : POLLIN), 0},
                               pollfd{socket_, static_cast<short>(blocked ? POLLIN | POLLOUT : POLLIN), 0},
                               pollfd{stop_.descriptor(), POLLIN, 0}, pollfd{command_, POLLIN, 0}};
  const bool busy = !blocked && device_.holds_packets();
  const timespec timeout = to_timespec(busy ? Time::zero() : next_event() - now_);
  const int count = ppoll(polled.data(), polled.size(), &timeout, nullptr);
  if (count < 0 && errno != EINTR) check_system_call("ppoll", count);
  if (count <= 0) return {.device = busy};
  if (polled[2].revents != 0) stop_.take();
  return {.device = busy || (polled[0].revents & POLLIN) != 0,
          .device_gone = (polled[0].revents & (POLLERR | POLLNVAL)) != 0,
          .socket = (polled[1].revents & (POLLIN | POLLERR)) != 0,
          .command_ended = polled[3].revents != 0,
          .stop = polled[2].revents != 0};
}

// Sends at most one batch, so that neither direction keeps the other waiting.
void Pump::send_waiting() {
  for (std::size_t taken = 0; taken < kBatch && !outgoing_.full(); ++taken) {
    const auto packet = device_.next();
    if (!packet) break;
    if (packet->size() > mtu_) {  // the command may have raised the device's MTU
      ++counts_.oversized;
      continue;
    }
    const Sealed sealed = protocol_.seal(*packet, outgoing_.slot());
    if (logs_.egress != nullptr)
      logs_.egress->record(monotonic_now() - logs_.zero, sealed.uid, sealed.bytes + outer_headers_);
    push(sealed.bytes);
    ++counts_.sent;
  }
  if (outgoing_.empty()) return;
  last_sent_ = now_;
  outgoing_.flush(socket_);
}

void Pump::receive_waiting() {
  std::size_t count = incoming_.receive(socket_);
  now_ = monotonic_now();
  if (incoming_.refused()) {
    refused_ = true;
    // The kernel returns the error before datagrams that arrived earlier, such as a bye.
    count = incoming_.receive(socket_);
  }
  newest_.reset();
  for (std::size_t i = 0; i < count; ++i) take(i);
  if (newest_) peer_ = incoming_.origin(*newest_);  // a NAT may have changed the peer's address
  flush_device();
}

void Pump::flush_device() {
  device_.flush();
  delivered_ = 0;
}

void Pump::take(std::size_t index) {
  const std::span<const std::byte> datagram = incoming_.datagram(index);
  if (datagram.size() > mtu_ + kMaxOverheadBytes) {
    ++counts_.oversized;
    return;
  }
  const Opened opened = protocol_.open(datagram, scratch());
  switch (opened.verdict) {
    case Verdict::malformed:
    case Verdict::altered:
    case Verdict::replayed:
      return count_refused(opened.verdict, incoming_.origin(index));
    case Verdict::request:
      answer(datagram, incoming_.origin(index));
      if (protocol_.peer_may_move()) return;  // a handshake message, which is no proof that the peer is alive
      break;
    case Verdict::bye:
      bye_ = true;
      break;
    case Verdict::packet:
      deliver(opened, datagram.size());
      break;
    case Verdict::keep_alive:
      break;
  }
  last_heard_ = now_;
  refused_ = false;
  if (protocol_.peer_may_move() && opened.newest) newest_ = index;
}

void Pump::deliver(const Opened& opened, std::size_t datagram_bytes) {
  if (logs_.ingress != nullptr)
    logs_.ingress->record(now_ - logs_.zero, opened.uid, datagram_bytes + outer_headers_);
  device_.deliver(opened.packet);
  ++counts_.received;
  if (++delivered_ == kMaxDelivered) flush_device();
}

// A slot that no packet uses which has not been flushed yet.
std::span<std::byte> Pump::scratch() {
  const std::size_t bytes = mtu_ + kMaxOverheadBytes;
  return std::span{scratch_}.subspan(delivered_ * bytes, bytes);
}

void Pump::count_refused(Verdict verdict, const Origin& origin) {
  if (protocol_.peer_may_move() && origin != peer_) {
    ++counts_.strangers;
  } else if (verdict == Verdict::altered) {
    ++counts_.altered;
  } else {
    ++(verdict == Verdict::replayed ? counts_.replayed : counts_.malformed);
  }
}

// The answer goes to the source of the request, which need not be the peer's address.
void Pump::answer(std::span<const std::byte> request, const Origin& origin) {
  if (outgoing_.full()) return;
  const std::size_t bytes = protocol_.answer(request, outgoing_.slot());
  if (bytes == 0) return;
  protocol_.peer_may_move() ? outgoing_.push(bytes, origin) : outgoing_.push(bytes);
}

void Pump::push(std::size_t bytes) {
  protocol_.peer_may_move() ? outgoing_.push(bytes, peer_) : outgoing_.push(bytes);
}

// In the authenticated protocol each end sends a keep-alive when it has sent nothing for an interval. In the
// compatible one a keep-alive asks the peer for an answer, and is sent when the peer has been silent for an
// interval.
Time Pump::next_keep_alive() const {
  const Time last = protocol_.peer_may_move() ? last_sent_ : last_heard_;
  return std::max(last, last_keep_alive_) + kKeepAliveInterval;
}

// If the batch is full, the datagrams in it serve as well. The time is noted all the same: otherwise wait()
// would return at once, again and again.
void Pump::keep_alive() {
  if (now_ < next_keep_alive()) return;
  last_keep_alive_ = now_;
  if (!outgoing_.full()) push(protocol_.keep_alive(outgoing_.slot()));
}

void Pump::say_bye() {
  if (outgoing_.full()) return;
  const std::size_t bytes = protocol_.bye(outgoing_.slot());
  if (bytes == 0) return;
  push(bytes);
  outgoing_.flush(socket_);
}

// A peer that is unreachable and whose address cannot change is dead at once.
bool Pump::peer_is_dead() const {
  const Time silence = now_ - last_heard_;
  return (protocol_.peer_breaks_silence() && silence > kSilenceLimit) ||
         (refused_ && (!protocol_.peer_may_move() || silence > kRefusedLimit));
}

Time Pump::next_event() const {
  Time next = next_keep_alive();
  for (const PacketLog* log : {logs_.ingress, logs_.egress})
    if (log != nullptr) next = std::min(next, log->next_flush());
  return next;
}

Counts Pump::counts() const {
  Counts all = counts_;
  all.undeliverable = device_.refused() + outgoing_.failed();
  return all;
}

}  // namespace ccgym::tunnel
