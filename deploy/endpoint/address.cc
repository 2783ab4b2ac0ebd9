#include "deploy/endpoint/address.hh"

#include <arpa/inet.h>

#include "deploy/endpoint/errors.hh"

namespace ccgym {

Address::Address(std::string_view host, uint16_t port)
    : host_(host == "localhost" ? "127.0.0.1" : host), port_(port) {
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
