#include <algorithm>
#include <cstdlib>
#include <vector>

#include "tests/cpp/fuzz/parser_checks.hh"
#include "tunnel/authenticated_protocol.hh"
#include "tunnel/client_handshake.hh"
#include "tunnel/compatible_protocol.hh"
#include "tunnel/inner_header.hh"
#include "tunnel/segment_joiner.hh"
#include "tunnel/segmenter.hh"

namespace ccgym::fuzz {

namespace {

using namespace tunnel;

void require(bool condition) {
  if (!condition) std::abort();
}

const PrivateAddresses kClientEnd{{0x02004064}, {0x01004064}};  // 100.64.0.2 and 100.64.0.1

Key key_of(unsigned char byte) {
  Key key{};
  key.fill(std::byte{byte});
  return key;
}

// Without the keys no packet is accepted.
void check_forgery(std::span<const std::byte> bytes) {
  AuthenticatedProtocol server{
      {key_of(1), key_of(2)}, kClientEnd.swapped(), ServerHandshake{key_of(3), kClientEnd.swapped()}};
  std::vector<std::byte> scratch(bytes.size() + kIpHeaderBytes);
  const Verdict verdict = server.open(bytes, scratch).verdict;
  require(verdict == Verdict::malformed || verdict == Verdict::altered || verdict == Verdict::request);
  std::vector<std::byte> out(kMaxControlBytes);
  require(server.answer(bytes, out) <= bytes.size());  // no stranger is helped to flood another
}

// Every packet read from the device is written to the device at the other end, unchanged.
void check_round_trip(std::span<const std::byte> packet) {
  if (packet.size() < 2) return;  // these lengths mean keep-alive and bye
  AuthenticatedProtocol client{{key_of(1), key_of(2)}, kClientEnd, std::nullopt};
  AuthenticatedProtocol server{{key_of(2), key_of(1)}, kClientEnd.swapped(), std::nullopt};
  std::vector<std::byte> datagram(packet.size() + kMaxOverheadBytes);
  datagram.resize(client.seal(packet, datagram).bytes);
  std::vector<std::byte> scratch(datagram.size() + kIpHeaderBytes);
  const Opened opened = server.open(datagram, scratch);
  require(opened.verdict == Verdict::packet && std::ranges::equal(opened.packet, packet));
  require(server.open(datagram, scratch).verdict == Verdict::replayed);
}

// A header that is too short, from a peer that knows the keys.
void check_restoring(std::span<const std::byte> bytes) {
  std::vector<std::byte> scratch(bytes.size() + kIpHeaderBytes);
  const auto packet = restore(bytes, kClientEnd, scratch);
  require(packet.empty() || can_elide(packet, kClientEnd));
}

// Packets in any order at an offloading device: joined and segmented again, they are the same.
void check_joining(std::span<const std::byte> packet) {
  SegmentJoiner joiner;
  if (packet.empty()) return;
  joiner.begin(packet);
  require(!joiner.join(packet));  // no packet follows itself
  require(std::ranges::equal(joiner.take().bytes, packet));
  Segmenter segmenter;
  std::ranges::copy(packet, segmenter.buffer().begin());
  segmenter.take({.gso_type = FrameHeader::kTcp4, .gso_size = 100}, packet.size());
  while (segmenter.holds_packets()) {
    const auto segment = segmenter.next();
    if (joiner.empty())
      joiner.begin(segment);
    else if (!joiner.join(segment))
      joiner.take();
  }
}

void check_handshake(std::span<const std::byte> bytes) {
  ClientHandshake client{key_of(3)};
  require(!client.on_datagram(bytes) && !client.welcome());
}

void check_compatible(std::span<const std::byte> bytes) {
  CompatibleProtocol server{Role::server};
  std::vector<std::byte> out(kMaxControlBytes);
  const Opened opened = server.open(bytes, {});
  require((opened.verdict == Verdict::packet) == (bytes.size() > kWireOverheadBytes));
  if (opened.verdict == Verdict::request) require(server.answer(bytes, out) <= bytes.size());
}

}  // namespace

void check_tunnel_datagram(std::span<const std::byte> bytes) {
  check_forgery(bytes);
  check_round_trip(bytes);
  check_restoring(bytes);
  check_joining(bytes);
  check_handshake(bytes);
  check_compatible(bytes);
}

}  // namespace ccgym::fuzz
