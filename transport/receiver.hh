// The receiver core: one flow at a time, one ACK per packet. No socket, no clock.
//
// The driver feeds every datagram with the time it arrived at and sends the reply, if there is one,
// to where the datagram came from.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "transport/congestion_controller.hh"
#include "transport/duplicate_filter.hh"
#include "transport/wire.hh"

namespace ccgym {

// A reply, held in place: what is sent is `bytes()`.
class Reply {
 public:
  explicit Reply(std::span<const std::byte> bytes);

  [[nodiscard]] std::span<const std::byte> bytes() const { return std::span{buffer_}.first(size_); }

 private:
  std::array<std::byte, kAckBytes> buffer_{};
  std::size_t size_;
};

struct ReceiverCounters {
  uint64_t data_packets{};  // of all flows, each once
  uint64_t duplicates{};    // data that came again, or came too late to tell
  uint64_t foreign{};       // well-formed, but of another flow than the present one
  uint64_t garbage{};       // no datagram of ours
};

class Receiver {
 public:
  // After this long without a word from its sender a flow gives way to another sender's hello.
  static constexpr Time kAbandonedAfter = std::chrono::seconds{5};

  std::optional<Reply> on_datagram(Time now, std::span<const std::byte> datagram);

  [[nodiscard]] bool in_flow() const { return flow_.has_value(); }
  [[nodiscard]] Time last_heard() const { return last_heard_; }        // of the present or the former flow
  [[nodiscard]] uint64_t ended_flows() const { return ended_flows_; }  // by their sender's bye
  [[nodiscard]] const ReceiverCounters& counters() const { return counters_; }

 private:
  std::optional<Reply> on(Time now, const Hello& hello);
  std::optional<Reply> on(Time now, const Data& data);
  std::optional<Reply> on(Time now, const Bye& bye);
  template <class NotForReceivers>
  std::optional<Reply> on(Time now, const NotForReceivers& datagram);

  std::optional<Reply> ignore_foreign();

  std::optional<uint64_t> flow_{};         // token of the present flow
  std::optional<uint64_t> former_flow_{};  // token of the flow that said bye
  DuplicateFilter seen_{};
  uint64_t received_packets_{0};  // of the present flow
  Time last_heard_{};
  uint64_t ended_flows_{0};
  ReceiverCounters counters_{};
};

}  // namespace ccgym
