#include "deploy/endpoint/udp_flow.hh"

#include <algorithm>
#include <variant>

#include "deploy/endpoint/clock.hh"
#include "deploy/endpoint/udp_socket.hh"

namespace ccgym {

UdpFlow::UdpFlow(const FileDescriptor& socket, CongestionController& controller, uint64_t flow,
                 const Traffic& traffic)
    : socket_(socket.number()),
      flow_(flow),
      sender_(controller, kDataBytes),
      traffic_(traffic),
      start_(monotonic_now()) {
  if (controller.wants_ecn()) send_with_ect(socket_);
}

Time UdpFlow::now() const { return monotonic_now() - start_; }

void UdpFlow::run(std::optional<Time> duration, StopSignals& stop, GymLink* gym) {
  const int gym_descriptor = gym != nullptr ? gym->descriptor() : kNoDescriptor;
  while ((!duration || now() < *duration) && !traffic_.finished()) {
    send_due(now());
    outgoing_.flush(socket_);
    const std::optional<Time> event = next_event(duration);
    const std::optional<Time> deadline = event ? std::optional{start_ + *event} : std::nullopt;
    const Readiness ready =
        wait_for(socket_, {.readable = true, .writable = !outgoing_.empty()}, stop, deadline, gym_descriptor);
    if (ready.stop) return;
    if (ready.other && !take_action(*gym)) return;
    if (ready.readable) {
      if (gather_acks(stop).stop) return;
      take_acks();
    }
    fire_due_timer(now());
    if (gym != nullptr) gym->report(now(), sender_);
  }
}

bool UdpFlow::take_action(GymLink& gym) {
  const bool taken = gym.take_action();
  sender_.refresh_limits(now());
  return taken;
}

void UdpFlow::fire_due_timer(Time now) {
  const std::optional<Time> timer = sender_.next_timer();
  if (timer && *timer <= now) sender_.on_timer(now);
}

// Waits until kMinWakeUpInterval after the last time that ACKs were read, so that ACKs in quick succession
// are read together.
Readiness UdpFlow::gather_acks(StopSignals& stop) {
  const Time due = acks_taken_at_ + kMinWakeUpInterval;
  const Readiness ready = now() < due ? wait_for(socket_, {}, stop, start_ + due) : Readiness{};
  acks_taken_at_ = now();
  return ready;
}

// After each ACK, the packets that it allows are written to the batch before the next ACK is processed, as if
// each had arrived alone; only the system calls are shared.
void UdpFlow::take_acks() {
  const std::size_t count = incoming_.receive(socket_);
  const Time arrival = now();
  for (std::size_t i = 0; i < count; ++i) {
    const std::optional<Datagram> datagram = parse(incoming_.datagram(i));
    const Ack* ack = datagram ? std::get_if<Ack>(&*datagram) : nullptr;
    if (ack == nullptr || ack->flow != flow_) {
      ++ignored_datagrams_;
      continue;
    }
    take_ack(arrival, *ack);
    if (outgoing_.full()) outgoing_.flush(socket_);
    send_due(arrival);
  }
}

void UdpFlow::take_ack(Time now, const Ack& ack) {
  const int64_t delivered_before = sender_.delivered_packets();
  sender_.on_ack(now, ack.seq, ack.received_at, ack.ce_count);
  if (sender_.delivered_packets() == delivered_before) return;
  traffic_.on_delivered(now, sender_.delivered_packets());
  rtts_.add(sender_.rtt().latest);
  received_packets_ = std::max(received_packets_, ack.received_packets);
}

// Writes the packets that may leave now to the batch, until it is full. The caller then flushes it and
// processes the ACKs that have arrived meanwhile, so that a large window does not keep them waiting.
void UdpFlow::send_due(Time now) {
  while (!outgoing_.full()) {
    const std::optional<Time> due = sender_.next_send(now);
    if (!due || *due > now || !may_send(now)) return;
    serialize(Data{flow_, sender_.on_sent(now)}, outgoing_.slot().first<kDataBytes>());
    outgoing_.push(kDataBytes);
  }
}

// Whether there is data to send, or a probe; if not, the sender is marked as application-limited.
bool UdpFlow::may_send(Time now) {
  if (sender_.owes_probe()) return true;
  const int64_t inflight_packets = sender_.inflight_bytes() / static_cast<int64_t>(kDataBytes);
  const bool has_data = traffic_.offers(now, sender_.delivered_packets(), inflight_packets);
  if (!has_data) sender_.on_app_limited();
  return has_data;
}

std::optional<Time> UdpFlow::next_departure() {
  const Time present = now();
  const std::optional<Time> send = sender_.next_send(present);
  if (!send) return std::nullopt;
  if (!may_send(present)) return traffic_.next_change();
  return *send > present ? std::max(*send, present + kMinWakeUpInterval) : send;
}

std::optional<Time> UdpFlow::next_event(std::optional<Time> end) {
  std::optional<Time> earliest = end;
  const auto consider = [&earliest](std::optional<Time> event) {
    if (event) earliest = std::min(earliest.value_or(Time::max()), *event);
  };
  consider(sender_.next_timer());
  if (outgoing_.empty()) consider(next_departure());
  return earliest;
}

}  // namespace ccgym
