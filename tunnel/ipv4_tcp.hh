// The header fields of IPv4 and TCP that matter for cutting and joining segments.
#pragma once

#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "tunnel/checksum.hh"

namespace ccgym::tunnel {

inline constexpr uint8_t kFin = 0x01;
inline constexpr uint8_t kPush = 0x08;
inline constexpr uint8_t kAck = 0x10;
inline constexpr uint8_t kCongestionWindowReduced = 0x80;

// Copies of the IP and TCP headers of a packet, and their lengths.
struct TcpPacket {
  iphdr ip{};
  tcphdr tcp{};
  std::size_t ip_bytes{};
  std::size_t header_bytes{};  // of both headers, options included

  [[nodiscard]] uint8_t flags(std::span<const std::byte> packet) const {
    return std::to_integer<uint8_t>(packet[ip_bytes + 13]);
  }
  [[nodiscard]] uint32_t seq() const { return ntohl(tcp.seq); }
};

// nullopt for anything but an unfragmented TCP packet over IPv4 whose header lengths fit its size.
inline std::optional<TcpPacket> read_tcp(std::span<const std::byte> packet) {
  TcpPacket read;
  if (packet.size() < sizeof(iphdr) + sizeof(tcphdr)) return std::nullopt;
  std::memcpy(&read.ip, packet.data(), sizeof(iphdr));
  read.ip_bytes = read.ip.ihl * std::size_t{4};
  const bool is_whole_tcp = read.ip.version == 4 && read.ip.ihl >= 5 && read.ip.protocol == IPPROTO_TCP &&
                            (ntohs(read.ip.frag_off) & (IP_MF | IP_OFFMASK)) == 0;
  if (!is_whole_tcp || read.ip_bytes + sizeof(tcphdr) > packet.size()) return std::nullopt;
  std::memcpy(&read.tcp, &packet[read.ip_bytes], sizeof(tcphdr));
  read.header_bytes = read.ip_bytes + read.tcp.doff * std::size_t{4};
  if (read.tcp.doff < 5 || read.header_bytes > packet.size()) return std::nullopt;
  return read;
}

inline uint64_t pseudo_header_sum(const iphdr& ip, std::size_t tcp_bytes) {
  return uint64_t{ip.saddr} + ip.daddr + htons(IPPROTO_TCP) + htons(static_cast<uint16_t>(tcp_bytes));
}

// Writes `ip` to the front of `packet`, with the packet's length and the checksum of the header's `ip_bytes`.
inline void write_ip(iphdr ip, std::span<std::byte> packet, std::size_t ip_bytes) {
  ip.tot_len = htons(static_cast<uint16_t>(packet.size()));
  ip.check = 0;
  std::memcpy(packet.data(), &ip, sizeof ip);
  ip.check = checksum(packet.first(ip_bytes));
  std::memcpy(packet.data(), &ip, sizeof ip);
}

}  // namespace ccgym::tunnel
