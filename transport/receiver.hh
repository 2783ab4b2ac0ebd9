// The receiver core: one flow at a time, one ACK per packet. No socket, no clock.
//
// The driver passes every datagram with its arrival time and the address it came from, and sends the reply,
// if there is one, back to that address.
//
// The receiver keeps no state for a sender that has not yet returned a cookie, which shows that datagrams
// reach the sender at its address. A flow receives from its own peer only. With a secret, the sender also has
// to prove that it knows it.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "transport/congestion_controller.hh"
#include "transport/duplicate_filter.hh"
#include "transport/siphash.hh"
#include "transport/wire.hh"

namespace ccgym {

// A reply, stored in place; `bytes()` is what is sent.
class Reply {
 public:
  explicit Reply(std::span<const std::byte> bytes);

  [[nodiscard]] std::span<const std::byte> bytes() const { return std::span{buffer_}.first(size_); }

 private:
  std::array<std::byte, kAckBytes> buffer_{};
  std::size_t size_;
};

struct ReceiverKeys {
  SipKey cookies{};                // at random
  std::optional<SipKey> secret{};  // shared with the sender
};

// The proof in a hello that its sender knows the secret.
uint64_t proof_of(const SipKey& secret, uint64_t flow, uint64_t cookie);

struct ReceiverCounters {
  uint64_t data_packets{};  // of all flows, each once
  uint64_t duplicates{};    // data that came again, or came too late to tell
  uint64_t foreign{};       // well-formed, but of another flow or peer than the present one
  uint64_t garbage{};       // not a datagram of this protocol
};

class Receiver {
 public:
  // A flow whose sender has been silent for so long gives way to another sender's hello.
  static constexpr Time kAbandonedAfter = std::chrono::seconds{5};
  // The same for a flow that has sent no data since its hello: some round trips of any path.
  static constexpr Time kIdleAfterHello = std::chrono::seconds{1};

  explicit Receiver(const ReceiverKeys& keys) : keys_(keys) {}

  // `peer`: the address the datagram came from, in bytes of any kind; `marked`: "congestion experienced", by
  // its IP header.
  std::optional<Reply> on_datagram(Time now, std::span<const std::byte> peer,
                                   std::span<const std::byte> datagram, bool marked = false);

  [[nodiscard]] bool in_flow() const { return flow_.has_value(); }
  [[nodiscard]] Time last_received() const { return last_received_; }  // of the present or the former flow
  [[nodiscard]] uint64_t ended_flows() const { return ended_flows_; }  // by their sender's bye, after data
  [[nodiscard]] const ReceiverCounters& counters() const { return counters_; }

 private:
  [[nodiscard]] uint64_t cookie_for(uint64_t flow) const;
  [[nodiscard]] bool admits(const Hello& hello) const;
  [[nodiscard]] bool taken(Time now) const;
  [[nodiscard]] bool is_present(uint64_t flow) const { return flow_ == flow && peer_ == from_; }
  std::optional<Reply> on(Time now, const Hello& hello);
  std::optional<Reply> on(Time now, const Data& data);
  std::optional<Reply> on(Time now, const Bye& bye);
  template <class NotForReceivers>
  std::optional<Reply> on(Time now, const NotForReceivers& datagram);

  std::optional<Reply> ignore_foreign();

  ReceiverKeys keys_;
  uint64_t from_{0};                       // whom the present datagram came from, hashed
  uint64_t peer_{0};                       // of the present flow
  std::optional<uint64_t> flow_{};         // token of the present flow
  std::optional<uint64_t> former_flow_{};  // token of the flow that said bye
  DuplicateFilter seen_{};
  bool marked_{false};            // the present datagram
  uint64_t received_packets_{0};  // of the present flow
  uint16_t ce_count_{0};          // of these, modulo 2^16
  Time begun_at_{};
  Time last_received_{};
  uint64_t ended_flows_{0};
  ReceiverCounters counters_{};
};

}  // namespace ccgym
