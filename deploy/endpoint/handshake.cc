#include "deploy/endpoint/handshake.hh"

#include <sys/socket.h>

#include <variant>

#include "deploy/endpoint/clock.hh"
#include "deploy/endpoint/datagram_batch.hh"
#include "transport/wire.hh"

namespace ccgym {

namespace {

constexpr int kByeTries = 3;
constexpr Time kByeInterval = std::chrono::milliseconds{200};

// Is this flow's `Reply` among what waits at the socket?
template <class Reply>
bool hears(ReceiveBatch& batch, int socket, uint64_t flow) {
  for (std::size_t count = batch.receive(socket); count > 0; count = batch.receive(socket)) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto datagram = parse(batch.datagram(i));
      if (!datagram) continue;
      const auto* reply = std::get_if<Reply>(&*datagram);
      if (reply != nullptr && reply->flow == flow) return true;
    }
  }
  return false;
}

void send_control(int socket, const ControlBuffer& bytes) {
  // What the host or the network refuses now is tried again: a receiver may not be up yet.
  static_cast<void>(send(socket, bytes.data(), bytes.size(), MSG_DONTWAIT));
}

}  // namespace

Answer say_hello(const FileDescriptor& socket, uint64_t flow, StopSignals& stop) {
  ReceiveBatch batch;
  for (int attempt = 0; attempt < kHelloTries; ++attempt) {
    send_control(socket.number(), serialize(Hello{flow}));
    const Time deadline = monotonic_now() + kHelloInterval;
    while (monotonic_now() < deadline) {
      const Readiness ready = wait_for(socket.number(), {.readable = true}, stop, deadline);
      if (ready.stop) return Answer::stopped;
      if (ready.readable && hears<HelloReply>(batch, socket.number(), flow)) return Answer::heard;
    }
  }
  return Answer::silence;
}

void say_bye(const FileDescriptor& socket, uint64_t flow, StopSignals& stop) {
  ReceiveBatch batch;
  for (int attempt = 0; attempt < kByeTries; ++attempt) {
    send_control(socket.number(), serialize(Bye{flow}));
    const Time deadline = monotonic_now() + kByeInterval;
    while (monotonic_now() < deadline) {
      const Readiness ready = wait_for(socket.number(), {.readable = true}, stop, deadline);
      if (ready.stop || hears<ByeReply>(batch, socket.number(), flow) || batch.refused()) return;
    }
  }
}

}  // namespace ccgym
