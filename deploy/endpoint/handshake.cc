#include "deploy/endpoint/handshake.hh"

#include <sys/socket.h>

#include <variant>

#include "deploy/endpoint/clock.hh"
#include "deploy/endpoint/datagram_batch.hh"
#include "transport/receiver.hh"
#include "transport/wire.hh"

namespace ccgym {

namespace {

constexpr int kByeTries = 3;
constexpr Time kByeInterval = std::chrono::milliseconds{200};

// Passes every reply to this flow that waits at the socket to `listener`.
template <class Listener>
void receive_replies(ReceiveBatch& batch, int socket, uint64_t flow, Listener& listener) {
  for (std::size_t count = batch.receive(socket); count > 0; count = batch.receive(socket)) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto datagram = parse(batch.datagram(i));
      if (!datagram) continue;
      std::visit(
          [&](const auto& message) {
            if (message.flow == flow) listener.on(message);
          },
          *datagram);
    }
  }
}

struct HelloListener {
  bool replied{false};
  std::optional<uint64_t> cookie{};

  void on(const HelloReply& /*reply*/) { replied = true; }
  void on(const Retry& retry) { cookie = retry.cookie; }
  template <class Other>
  void on(const Other& /*message*/) {}
};

struct ByeListener {
  bool replied{false};

  void on(const ByeReply& /*reply*/) { replied = true; }
  template <class Other>
  void on(const Other& /*message*/) {}
};

Hello hello_with(uint64_t flow, uint64_t cookie, const std::optional<SipKey>& secret) {
  return {flow, cookie, secret ? proof_of(*secret, flow, cookie) : 0};
}

void send_control(int socket, std::span<const std::byte> bytes) {
  // Errors are ignored, because the datagram is sent again: the receiver may not have started yet.
  static_cast<void>(send(socket, bytes.data(), bytes.size(), MSG_DONTWAIT));
}

}  // namespace

Answer say_hello(const FileDescriptor& socket, uint64_t flow, const std::optional<SipKey>& secret,
                 StopSignals& stop) {
  ReceiveBatch batch;
  HelloListener listener;
  uint64_t cookie = 0;
  for (int attempt = 0; attempt < kHelloTries; ++attempt) {
    send_control(socket.number(), serialize(hello_with(flow, cookie, secret)));
    const Time deadline = monotonic_now() + kHelloInterval;
    while (monotonic_now() < deadline) {
      const Readiness ready = wait_for(socket.number(), {.readable = true}, stop, deadline);
      if (ready.stop) return Answer::stopped;
      if (ready.readable) receive_replies(batch, socket.number(), flow, listener);
      if (listener.replied) return Answer::accepted;
      if (listener.cookie && *listener.cookie != cookie) {
        cookie = *listener.cookie;
        send_control(socket.number(), serialize(hello_with(flow, cookie, secret)));
      }
    }
  }
  return listener.cookie ? Answer::refused : Answer::silence;
}

void say_bye(const FileDescriptor& socket, uint64_t flow, StopSignals& stop) {
  ReceiveBatch batch;
  ByeListener listener;
  for (int attempt = 0; attempt < kByeTries; ++attempt) {
    send_control(socket.number(), serialize(Bye{flow}));
    const Time deadline = monotonic_now() + kByeInterval;
    while (monotonic_now() < deadline) {
      const Readiness ready = wait_for(socket.number(), {.readable = true}, stop, deadline);
      if (ready.readable) receive_replies(batch, socket.number(), flow, listener);
      if (ready.stop || listener.replied || batch.refused()) return;
    }
  }
}

}  // namespace ccgym
