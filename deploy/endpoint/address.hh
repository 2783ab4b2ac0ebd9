// A numeric IP address and UDP port.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace ccgym {

// Bytes of the UDP and IP headers of a datagram: 28, or 48 over IPv6.
constexpr int udp_ip_header_bytes(bool ipv6) { return 8 + (ipv6 ? 40 : 20); }

class Address {
 public:
  // `host` is a numeric IPv4 or IPv6 address or "localhost", because a static program has no resolver. An
  // IPv4-mapped IPv6 address becomes an IPv4 address. Throws InputError for any other text.
  Address(std::string_view host, uint16_t port);

  [[nodiscard]] const sockaddr* raw() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  [[nodiscard]] socklen_t raw_bytes() const { return is_ipv6() ? sizeof(sockaddr_in6) : sizeof(sockaddr_in); }
  [[nodiscard]] bool is_ipv6() const { return storage_.ss_family == AF_INET6; }
  [[nodiscard]] uint16_t port() const { return port_; }
  [[nodiscard]] std::string to_string() const;  // "10.0.0.1:5000", "[fd00::1]:5000"

 private:
  std::string host_;
  uint16_t port_;
  sockaddr_storage storage_{};
};

}  // namespace ccgym
