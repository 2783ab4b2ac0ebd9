// Moves packets between the TUN device and the socket, in batches, until one of the two ends stops.
#pragma once

#include <optional>
#include <vector>

#include "deploy/endpoint/datagram_batch.hh"
#include "deploy/endpoint/file_descriptor.hh"
#include "deploy/endpoint/wait.hh"
#include "tunnel/connection.hh"
#include "tunnel/counts.hh"
#include "tunnel/inside.hh"
#include "tunnel/packet_device.hh"
#include "tunnel/packet_log.hh"
#include "tunnel/protocol.hh"

namespace ccgym::tunnel {

inline constexpr Time kSilenceLimit = std::chrono::seconds{5};  // then the peer counts as gone
inline constexpr Time kKeepAliveInterval = std::chrono::seconds{1};

struct Logs {
  PacketLog* ingress{};  // null: no log
  PacketLog* egress{};
  Time zero{};  // time 0 of the logs, on the steady clock
};

enum class Ending { command_ended, stopped, peer_said_bye, peer_fell_silent, device_gone };

class Pump {
 public:
  // `device`: that of `inside`.
  Pump(const FileDescriptor& socket, const Inside& inside, PacketDevice& device, Connection& connection,
       const Logs& logs, StopSignals& stop);

  Ending run();
  [[nodiscard]] Counts counts() const;

 private:
  struct Ready {
    bool device{};
    bool device_gone{};
    bool socket{};
    bool command_ended{};
    bool stop{};
  };

  [[nodiscard]] Ready wait();
  void send_waiting();
  void receive_waiting();
  void take(std::size_t index);
  void deliver(const Opened& opened, std::size_t datagram_bytes);
  [[nodiscard]] std::span<std::byte> scratch();
  void flush_device();
  void count_refused(Verdict verdict, const Origin& origin);
  void answer(std::span<const std::byte> request, const Origin& origin);
  void push(std::size_t bytes);
  void keep_alive();
  void say_bye();
  [[nodiscard]] bool peer_is_dead() const;
  [[nodiscard]] Time next_keep_alive() const;
  [[nodiscard]] Time next_event() const;

  int socket_;
  int tun_;
  PacketDevice& device_;
  int command_;
  Protocol& protocol_;
  Origin peer_;
  std::size_t outer_headers_;
  std::size_t mtu_;
  Logs logs_;
  StopSignals& stop_;
  std::vector<std::byte> scratch_;  // memory for restored packets, one slot for each between two flushes
  std::size_t delivered_{0};        // packets since the last flush of the device
  ReceiveBatch incoming_{};
  std::optional<std::size_t> newest_{};  // index in the batch of the peer's newest datagram
  SendBatch outgoing_;
  Counts counts_{};
  Time now_;
  Time last_heard_;
  Time last_sent_;
  Time last_keep_alive_;
  bool refused_{false};  // since the peer's last datagram, the network has reported it as unreachable
  bool bye_{false};      // received
};

}  // namespace ccgym::tunnel
