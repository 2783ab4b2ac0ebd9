#include "deploy/endpoint/address.hh"

#include <arpa/inet.h>

#include <array>

#include "deploy/endpoint/errors.hh"

namespace ccgym {

namespace {

// The numeric address of `host`. An IPv4-mapped IPv6 address becomes IPv4, because packets to
// "::ffff:10.0.0.1" are IPv4 packets, with the header and the traffic class of IPv4.
std::string numeric_host(std::string_view host) {
  if (host == "localhost") return "127.0.0.1";
  std::string text{host};
  in6_addr ipv6{};
  std::array<char, INET_ADDRSTRLEN> ipv4{};
  if (inet_pton(AF_INET6, text.c_str(), &ipv6) != 1 || !IN6_IS_ADDR_V4MAPPED(&ipv6)) return text;
  return inet_ntop(AF_INET, &ipv6.s6_addr[12], ipv4.data(), ipv4.size());
}

}  // namespace

Address::Address(std::string_view host, uint16_t port) : host_(numeric_host(host)), port_(port) {
  auto& ipv4 = reinterpret_cast<sockaddr_in&>(storage_);
  auto& ipv6 = reinterpret_cast<sockaddr_in6&>(storage_);
  if (inet_pton(AF_INET, host_.c_str(), &ipv4.sin_addr) == 1) {
    ipv4.sin_family = AF_INET;
    ipv4.sin_port = htons(port);
  } else if (inet_pton(AF_INET6, host_.c_str(), &ipv6.sin6_addr) == 1) {
    ipv6.sin6_family = AF_INET6;
    ipv6.sin6_port = htons(port);
  } else {
    throw InputError{"address '" + host_ + "' is not a numeric IPv4 or IPv6 address, nor localhost"};
  }
}

std::string Address::to_string() const {
  const std::string host = is_ipv6() ? "[" + host_ + "]" : host_;
  return host + ":" + std::to_string(port_);
}

}  // namespace ccgym
