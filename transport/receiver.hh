// The receiver core: one flow at a time, one ACK per packet. It reads no socket and no clock.
//
// The driver passes every datagram with its arrival time and source address, and sends the reply, if there is
// one, back to that address.
//
// The receiver keeps no state for a sender before it has returned a cookie, which shows that the sender
// receives datagrams at its address. A flow only accepts datagrams of its own peer. If the receiver has a
// secret, the sender also has to prove that it knows it.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "transport/duplicate_filter.hh"
#include "transport/siphash.hh"
#include "transport/units.hh"
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
  SipKey cookies{};                // random, new for every receiver
  std::optional<SipKey> secret{};  // shared with the sender
};

// The proof in a hello that its sender knows the secret: SipHash of flow token and cookie.
uint64_t proof_of(const SipKey& secret, uint64_t flow, uint64_t cookie);

struct ReceiverCounters {
  uint64_t data_packets{};  // of all flows, without duplicates
  uint64_t duplicates{};    // data packets that are repeated, or too late to know whether they are
  uint64_t foreign{};       // well-formed datagrams of another flow or peer than the present one
  uint64_t garbage{};       // datagrams that are not of this protocol
};

class Receiver {
 public:
  // After so much silence of its sender, a flow gives way to the hello of another sender.
  static constexpr Time kAbandonedAfter = std::chrono::seconds{5};
  // The same for a flow that has sent no data since its hello: longer than a few round trips of any path.
  static constexpr Time kIdleAfterHello = std::chrono::seconds{1};

  explicit Receiver(const ReceiverKeys& keys) : keys_(keys) {}

  // Returns the reply, if there is one. `peer`: the source address, as bytes in any format; `marked`: whether
  // the IP header carries the ECN codepoint CE.
  std::optional<Reply> on_datagram(Time now, std::span<const std::byte> peer,
                                   std::span<const std::byte> datagram, bool marked = false);

  [[nodiscard]] bool in_flow() const { return flow_.has_value(); }
  [[nodiscard]] Time last_received() const { return last_received_; }  // of the present or the last flow
  // Flows that their sender has ended by a bye, after at least one data packet.
  [[nodiscard]] uint64_t ended_flows() const { return ended_flows_; }
  [[nodiscard]] const ReceiverCounters& counters() const { return counters_; }

 private:
  [[nodiscard]] uint64_t cookie_for(uint64_t flow) const;
  [[nodiscard]] bool admits(const Hello& hello) const;
  [[nodiscard]] bool is_busy(Time now) const;
  [[nodiscard]] bool is_present(uint64_t flow) const { return flow_ == flow && peer_ == source_; }
  std::optional<Reply> on(Time now, const Hello& hello);
  std::optional<Reply> on(Time now, const Data& data);
  std::optional<Reply> on(Time now, const Bye& bye);
  template <class NotForReceivers>
  std::optional<Reply> on(Time now, const NotForReceivers& datagram);

  std::optional<Reply> ignore_foreign();

  ReceiverKeys keys_;
  uint64_t source_{0};                     // hash of the source address of the present datagram
  uint64_t peer_{0};                       // the same of the present flow's sender
  std::optional<uint64_t> flow_{};         // token of the present flow
  std::optional<uint64_t> former_flow_{};  // token of the last flow that ended by a bye
  DuplicateFilter seen_{};
  bool marked_{false};            // the present datagram is CE-marked
  uint64_t received_packets_{0};  // of the present flow, without duplicates
  uint16_t ce_count_{0};          // CE-marked packets of these, modulo 2^16
  Time hello_at_{};               // when the present flow was accepted
  Time last_received_{};
  uint64_t ended_flows_{0};
  ReceiverCounters counters_{};
};

}  // namespace ccgym
