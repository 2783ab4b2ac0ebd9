#include "tunnel/announcements.hh"

#include <arpa/inet.h>

#include <iostream>
#include <string>

namespace ccgym::tunnel {

namespace {

std::string host_of(const Origin& peer) {
  char text[INET6_ADDRSTRLEN]{};
  const auto& ipv4 = reinterpret_cast<const sockaddr_in&>(peer.peer);
  const auto& ipv6 = reinterpret_cast<const sockaddr_in6&>(peer.peer);
  if (peer.peer.ss_family == AF_INET) return inet_ntop(AF_INET, &ipv4.sin_addr, text, sizeof text);
  if (IN6_IS_ADDR_V4MAPPED(&ipv6.sin6_addr))
    return inet_ntop(AF_INET, &ipv6.sin6_addr.s6_addr[12], text, sizeof text);
  inet_ntop(AF_INET6, &ipv6.sin6_addr, text, sizeof text);
  return std::string{"["}.append(text).append("]");
}

bool is_compatible(const Options& options) { return !options.secret_file; }

}  // namespace

void announce_listening(const Options& options, uint16_t port) {
  if (options.role == Role::client) {
    if (is_compatible(options)) std::cerr << "listening on port " << port << std::endl;
    return;
  }
  const std::string local = to_string(options.addresses->local);
  const std::string peer = to_string(options.addresses->peer);
  if (is_compatible(options))
    std::cout << "mm-tunnelclient localhost " << port << " " << peer << " " << local << std::endl;
  else
    std::cout << "port " << port << " local " << local << " peer " << peer << std::endl;
}

void announce_connected(const Options& options, const Connection& connection, std::string_view device) {
  const std::string host = host_of(connection.peer);
  const PrivateAddresses& addresses = connection.settings.addresses;
  if (!is_compatible(options))
    std::cout << "connected " << host << ":"
              << ntohs(reinterpret_cast<const sockaddr_in&>(connection.peer.peer).sin_port) << " local "
              << to_string(addresses.local) << " peer " << to_string(addresses.peer) << " device " << device
              << std::endl;
  else if (options.role == Role::server)
    std::cout << "Tunnelserver got connection from tunnelclient" << std::endl;
  else
    std::cout << "Tunnelclient got connection from tunnelserver at " << host << std::endl;
}

}  // namespace ccgym::tunnel
