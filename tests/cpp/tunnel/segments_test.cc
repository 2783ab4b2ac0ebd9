// Segmenter and SegmentJoiner, each checked by the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/cpp/tunnel/inner_packets.hh"
#include "tunnel/segment_joiner.hh"
#include "tunnel/segmenter.hh"

namespace ccgym::tunnel {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t kOptionBytes = 12;
constexpr std::size_t kHeaderBytes = 20 + 20 + kOptionBytes;
constexpr std::size_t kFlagsAt = 20 + 13;

// A frame as the kernel returns it: TCP, without its checksum.
Bytes tcp_frame(std::size_t payload_bytes, uint8_t flags = kAck) {
  Bytes frame = inner_packet(kClientEnd, kHeaderBytes + payload_bytes, 1);
  write_u16(frame, 6, 0x4000);  // do not fragment
  frame[9] = std::byte{IPPROTO_TCP};
  frame[32] = std::byte{(20 + kOptionBytes) / 4 << 4};
  frame[kFlagsAt] = std::byte{flags};
  set_checksum(frame, 20);
  return frame;
}

std::vector<Bytes> cut(const Bytes& frame, const FrameHeader& header) {
  Segmenter segmenter;
  std::ranges::copy(frame, segmenter.buffer().begin());
  segmenter.take(header, frame.size());
  std::vector<Bytes> packets;
  while (segmenter.holds_packets()) {
    const auto packet = segmenter.next();
    packets.emplace_back(packet.begin(), packet.end());
  }
  return packets;
}

std::vector<Bytes> cut(const Bytes& frame, uint16_t segment_bytes) {
  return cut(frame, {.gso_type = FrameHeader::kTcp4, .gso_size = segment_bytes});
}

// The frames that a sequence of packets is joined to, and the number of segments of each.
std::vector<Bytes> join(const std::vector<Bytes>& packets) {
  SegmentJoiner joiner;
  std::vector<Bytes> frames;
  const auto take = [&] {
    const auto frame = joiner.take();
    frames.emplace_back(frame.bytes.begin(), frame.bytes.end());
  };
  for (const Bytes& packet : packets) {
    if (joiner.join(packet)) continue;
    if (!joiner.empty()) take();
    joiner.begin(packet);
  }
  if (!joiner.empty()) take();
  return frames;
}

bool checksums_hold(const Bytes& packet) {
  const auto tcp = read_tcp(packet);
  const auto segment = std::span{packet}.subspan(tcp->ip_bytes);
  return checksum(std::span{packet}.first(20)) == 0 &&
         checksum(segment, pseudo_header_sum(tcp->ip, segment.size())) == 0;
}

TEST(Checksum, IsTheOneOfTheRfcsExample) {
  const std::array bytes{std::byte{0x00}, std::byte{0x01}, std::byte{0xf2}, std::byte{0x03},
                         std::byte{0xf4}, std::byte{0xf5}, std::byte{0xf6}, std::byte{0xf7}};
  EXPECT_EQ(ntohs(fold(add_words(bytes, 0))), 0xddf2);
}

TEST(Segmenter, CutsAFrameIntoWholePackets) {
  const Bytes frame = tcp_frame(3500, kAck | kPush | kCongestionWindowReduced);
  const std::vector<Bytes> packets = cut(frame, 1400);
  ASSERT_EQ(packets.size(), 3U);
  Bytes payload;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    const Bytes& packet = packets[i];
    EXPECT_EQ(packet.size(), kHeaderBytes + (i < 2 ? 1400 : 700));
    EXPECT_TRUE(checksums_hold(packet)) << i;
    EXPECT_EQ(read_tcp(packet)->seq(), read_tcp(frame)->seq() + 1400 * i);
    EXPECT_EQ(ntohs(read_tcp(packet)->ip.id), static_cast<uint16_t>(ntohs(read_tcp(frame)->ip.id) + i));
    EXPECT_EQ((packet[kFlagsAt] & std::byte{kPush}) != std::byte{0}, i == 2) << "the last one pushes";
    EXPECT_EQ((packet[kFlagsAt] & std::byte{kCongestionWindowReduced}) != std::byte{0}, i == 0);
    payload.insert(payload.end(), packet.begin() + kHeaderBytes, packet.end());
  }
  EXPECT_TRUE(std::ranges::equal(payload, std::span{frame}.subspan(kHeaderBytes)));
}

TEST(Segmenter, FillsInTheChecksumOfASinglePacket) {
  Bytes frame = tcp_frame(100);
  const uint16_t partial = fold(pseudo_header_sum(read_tcp(frame)->ip, frame.size() - 20));
  std::memcpy(&frame[20 + 16], &partial, sizeof partial);
  const std::vector<Bytes> packets =
      cut(frame, {.flags = FrameHeader::kNeedsChecksum, .csum_start = 20, .csum_offset = 16});
  ASSERT_EQ(packets.size(), 1U);
  EXPECT_TRUE(checksums_hold(packets[0]));
}

TEST(Segmenter, LeavesWholePacketsAsTheyAre) {
  const Bytes packet = inner_packet(kClientEnd, 99, 7);
  EXPECT_EQ(cut(packet, FrameHeader{}), std::vector<Bytes>{packet});
}

TEST(Segmenter, DropsWhatContradictsItself) {
  EXPECT_TRUE(cut(tcp_frame(3000), 0).empty());
  EXPECT_TRUE(cut(inner_packet(kClientEnd, 3000, 1), 1400).empty());  // no TCP, most likely
  EXPECT_TRUE(cut(tcp_frame(0), 1400).empty());
  const Bytes outside = tcp_frame(10);
  EXPECT_EQ(cut(outside, {.flags = FrameHeader::kNeedsChecksum, .csum_start = 60000, .csum_offset = 16}),
            std::vector<Bytes>{outside});
}

TEST(SegmentJoiner, MakesTheFrameAgain) {
  for (const std::size_t payload_bytes : {2U, 1400U, 1401U, 2800U, 60000U}) {
    const Bytes frame = tcp_frame(payload_bytes, kAck | kPush);
    const std::vector<Bytes> frames = join(cut(frame, 1400));
    ASSERT_EQ(frames.size(), 1U) << payload_bytes;
    Bytes expected = frame;
    std::memcpy(&expected[20 + 16], &frames[0][20 + 16], 2);  // the checksum: partial again, or whole
    EXPECT_EQ(frames[0], expected) << payload_bytes;
  }
}

TEST(SegmentJoiner, TellsTheKernelWhereToCut) {
  const std::vector<Bytes> packets = cut(tcp_frame(4000), 1400);
  SegmentJoiner joiner;
  joiner.begin(packets[0]);
  EXPECT_TRUE(joiner.join(packets[1]));
  const auto frame = joiner.take();
  EXPECT_EQ(frame.header.gso_type, FrameHeader::kTcp4);
  EXPECT_EQ(frame.header.gso_size, 1400);
  EXPECT_EQ(frame.header.hdr_len, kHeaderBytes);
  EXPECT_EQ(cut({frame.bytes.begin(), frame.bytes.end()}, frame.header),
            (std::vector<Bytes>{packets[0], packets[1]}));
  EXPECT_TRUE(joiner.empty());
}

TEST(SegmentJoiner, KeepsApartWhatDoesNotFollow) {
  const std::vector<Bytes> whole = cut(tcp_frame(4200), 1400);
  const auto frames_with = [&](auto change) {
    std::vector<Bytes> packets = whole;
    change(packets);
    return join(packets).size();
  };
  EXPECT_EQ(frames_with([](auto&) {}), 1U);
  EXPECT_EQ(frames_with([](auto& packets) { std::swap(packets[0], packets[1]); }), 3U);
  EXPECT_EQ(frames_with([](auto& packets) { packets[1] = packets[0]; }), 3U);
  EXPECT_EQ(frames_with([](auto& packets) { packets.erase(packets.begin() + 1); }), 2U);
  EXPECT_EQ(frames_with([](auto& packets) { packets[1].pop_back(); }), 3U);
}

// A packet with one flipped bit is delivered unchanged, and the kernel checks it.
TEST(SegmentJoiner, JoinsNothingHarmed) {
  std::mt19937_64 random{1};
  const std::vector<Bytes> whole = cut(tcp_frame(200), 100);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Bytes> packets = whole;
    const std::size_t which = random() % 2;
    packets[which][random() % packets[which].size()] ^= static_cast<std::byte>(1U << random() % 8);
    EXPECT_EQ(join(packets), packets);
  }
}

}  // namespace
}  // namespace ccgym::tunnel
