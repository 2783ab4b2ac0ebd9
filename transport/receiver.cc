#include "transport/receiver.hh"

#include <algorithm>
#include <variant>

namespace ccgym {

Reply::Reply(std::span<const std::byte> bytes) : size_(bytes.size()) {
  std::ranges::copy(bytes, buffer_.begin());
}

uint64_t proof_of(const SipKey& secret, uint64_t flow, uint64_t cookie) {
  // The bytes as on the wire, because the two ends may differ in byte order.
  const auto bytes = serialize(Hello{flow, cookie});
  SipHash hash{secret};
  hash.add(bytes);
  return hash.finish();
}

std::optional<Reply> Receiver::on_datagram(Time now, std::span<const std::byte> peer,
                                           std::span<const std::byte> datagram, bool marked) {
  const std::optional<Datagram> parsed = parse(datagram);
  if (!parsed) {
    ++counters_.garbage;
    return std::nullopt;
  }
  SipHash hash{keys_.cookies};
  hash.add(peer);
  source_ = hash.finish();
  marked_ = marked;
  return std::visit([&](const auto& message) { return on(now, message); }, *parsed);
}

uint64_t Receiver::cookie_for(uint64_t flow) const {
  SipHash hash{keys_.cookies};
  hash.add(std::as_bytes(std::span{&source_, 1}));
  hash.add(std::as_bytes(std::span{&flow, 1}));
  return hash.finish();
}

bool Receiver::admits(const Hello& hello) const {
  return !keys_.secret || hello.proof == proof_of(*keys_.secret, hello.flow, hello.cookie);
}

bool Receiver::is_busy(Time now) const {
  if (!flow_) return false;
  return received_packets_ > 0 ? now - last_received_ < kAbandonedAfter : now - hello_at_ < kIdleAfterHello;
}

std::optional<Reply> Receiver::on(Time now, const Hello& hello) {
  const uint64_t cookie = cookie_for(hello.flow);
  if (hello.cookie != cookie) return Reply{serialize(Retry{hello.flow, cookie})};
  if (!admits(hello)) return ignore_foreign();
  if (!is_present(hello.flow)) {
    if (is_busy(now) || former_flow_ == hello.flow) return ignore_foreign();
    flow_ = hello.flow;
    peer_ = source_;
    hello_at_ = now;
    seen_ = {};
    received_packets_ = 0;
    ce_count_ = 0;
  }
  last_received_ = now;
  return Reply{serialize(HelloReply{hello.flow})};
}

std::optional<Reply> Receiver::on(Time now, const Data& data) {
  if (!is_present(data.flow)) return ignore_foreign();
  last_received_ = now;
  if (!seen_.insert(data.seq)) {
    ++counters_.duplicates;
    return std::nullopt;
  }
  ++counters_.data_packets;
  if (marked_) ++ce_count_;
  return Reply{serialize(Ack{data.flow, data.seq, now, ++received_packets_, ce_count_})};
}

std::optional<Reply> Receiver::on(Time now, const Bye& bye) {
  if (is_present(bye.flow)) {
    former_flow_ = flow_;
    flow_.reset();
    last_received_ = now;
    if (received_packets_ > 0) ++ended_flows_;
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
