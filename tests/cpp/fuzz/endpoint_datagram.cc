#include <algorithm>
#include <cstdlib>

#include "tests/cpp/fuzz/parser_checks.hh"
#include "transport/receiver.hh"
#include "transport/wire.hh"

namespace ccgym::fuzz {

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

// A parsed message serializes to the same bytes, except for the padding of a data datagram.
struct WrittenAgain {
  std::span<const std::byte> bytes;

  template <class Message>
  void operator()(const Message& message) const {
    require(std::ranges::equal(serialize(message), bytes));
  }
  void operator()(const Data& data) const {
    std::array<std::byte, kDataBytes> out{};
    serialize(data, out);
    require(bytes.size() == kDataBytes && std::ranges::equal(std::span{out}.first(22), bytes.first(22)));
  }
};

}  // namespace

void check_endpoint_datagram(std::span<const std::byte> bytes) {
  if (const auto datagram = parse(bytes)) std::visit(WrittenAgain{bytes}, *datagram);
  constexpr std::array<std::byte, 6> kPeer{};
  Receiver receiver{ReceiverKeys{}};
  for (int i = 0; i < 2; ++i)
    if (const auto reply = receiver.on_datagram(Time{1}, kPeer, bytes))
      require(reply->bytes().size() <= bytes.size());
}

}  // namespace ccgym::fuzz
