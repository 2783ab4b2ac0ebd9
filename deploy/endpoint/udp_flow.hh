// One flow over a connected UDP socket: the sender core driven by the steady clock.
#pragma once

#include <cstdint>
#include <optional>

#include "deploy/endpoint/datagram_batch.hh"
#include "deploy/endpoint/file_descriptor.hh"
#include "deploy/endpoint/gym_link.hh"
#include "deploy/endpoint/histogram.hh"
#include "deploy/endpoint/wait.hh"
#include "transport/sender.hh"
#include "transport/traffic.hh"
#include "transport/wire.hh"

namespace ccgym {

class UdpFlow {
 public:
  // To be made when the receiver has accepted the hello of `flow`: the flow's time begins now.
  UdpFlow(const FileDescriptor& socket, CongestionController& controller, uint64_t flow,
          const Traffic& traffic = {});

  // Sends full datagrams of the traffic as the controller allows, until all of it has been acknowledged,
  // `duration` is over (nullopt: unlimited), a stop signal comes, or the gym that chooses the controller's
  // actions is gone.
  void run(std::optional<Time> duration, StopSignals& stop, GymLink* gym = nullptr);

  [[nodiscard]] Time now() const;  // since the flow began
  [[nodiscard]] const Sender<>& sender() const { return sender_; }
  [[nodiscard]] const Traffic& traffic() const { return traffic_; }
  [[nodiscard]] const DurationHistogram& rtts() const { return rtts_; }
  // The receiver's count of data packets, without duplicates, as of the newest ACK.
  [[nodiscard]] uint64_t received_packets() const { return received_packets_; }
  [[nodiscard]] uint64_t ignored_datagrams() const { return ignored_datagrams_; }
  [[nodiscard]] std::size_t failed_sends() const { return outgoing_.failed(); }

 private:
  static constexpr std::size_t kBurstDatagrams = 64;  // at most so many are sent before ACKs are read again
  // The shortest time between two wake-ups for ACKs or paced packets, because a wake-up costs more than a
  // packet.
  static constexpr Time kMinWakeUpInterval = std::chrono::microseconds{50};

  void fire_due_timer(Time now);
  bool take_action(GymLink& gym);  // false if the gym is gone
  Readiness gather_acks(StopSignals& stop);
  void take_acks();
  void take_ack(Time now, const Ack& ack);
  void send_due(Time now);
  [[nodiscard]] bool may_send(Time now);
  [[nodiscard]] std::optional<Time> next_departure();
  [[nodiscard]] std::optional<Time> next_event(std::optional<Time> end);

  int socket_;
  uint64_t flow_;
  Sender<> sender_;
  Traffic traffic_;
  Time start_;
  Time acks_taken_at_{-kMinWakeUpInterval};
  ReceiveBatch incoming_{};
  SendBatch outgoing_{kBurstDatagrams, kDataBytes};
  DurationHistogram rtts_{};
  uint64_t received_packets_{0};
  uint64_t ignored_datagrams_{0};
};

}  // namespace ccgym
