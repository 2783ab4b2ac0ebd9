#include "transport/receiver.hh"

#include <algorithm>
#include <variant>

namespace ccgym {

Reply::Reply(std::span<const std::byte> bytes) : size_(bytes.size()) {
  std::ranges::copy(bytes, buffer_.begin());
}

std::optional<Reply> Receiver::on_datagram(Time now, std::span<const std::byte> datagram) {
  const std::optional<Datagram> parsed = parse(datagram);
  if (!parsed) {
    ++counters_.garbage;
    return std::nullopt;
  }
  return std::visit([&](const auto& message) { return on(now, message); }, *parsed);
}

std::optional<Reply> Receiver::on(Time now, const Hello& hello) {
  const bool repeated = flow_ == hello.flow;
  if (!repeated) {
    const bool taken = flow_ && now - last_heard_ < kAbandonedAfter;
    if (taken || former_flow_ == hello.flow) return ignore_foreign();
    flow_ = hello.flow;
    seen_ = {};
    received_packets_ = 0;
  }
  last_heard_ = now;
  return Reply{serialize(HelloReply{hello.flow})};
}

std::optional<Reply> Receiver::on(Time now, const Data& data) {
  if (flow_ != data.flow) return ignore_foreign();
  last_heard_ = now;
  if (!seen_.insert(data.seq)) {
    ++counters_.duplicates;
    return std::nullopt;
  }
  ++counters_.data_packets;
  return Reply{serialize(Ack{data.flow, data.seq, now, ++received_packets_})};
}

std::optional<Reply> Receiver::on(Time now, const Bye& bye) {
  if (flow_ == bye.flow) {
    former_flow_ = flow_;
    flow_.reset();
    last_heard_ = now;
    ++ended_flows_;
  }
  if (former_flow_ != bye.flow) return ignore_foreign();
  return Reply{serialize(ByeReply{bye.flow})};
}

template <class NotForReceivers>
std::optional<Reply> Receiver::on(Time /*now*/, const NotForReceivers& /*datagram*/) {
  return ignore_foreign();
}

std::optional<Reply> Receiver::ignore_foreign() {
  ++counters_.foreign;
  return std::nullopt;
}

}  // namespace ccgym
