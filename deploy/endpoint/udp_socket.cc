#include "deploy/endpoint/udp_socket.hh"

#include <netinet/udp.h>

#include <cerrno>
#include <string>

#include "deploy/endpoint/errors.hh"

namespace ccgym {

namespace {

// Enough for some 10 ms at 5 Gbit/s. The default of 208 kB holds 92 full datagrams, and more than that arrive
// while the program waits for a processor of a busy host.
constexpr int kBufferBytes = 8 << 20;

void set_option(int socket, int level, int option, int value, const char* attempt) {
  check_system_call(attempt, setsockopt(socket, level, option, &value, sizeof value));
}

// Sets a buffer size: beyond the system's limit if the user has the right to, otherwise as large as the limit
// allows.
void set_buffer(int socket, int forced_option, int option) {
  const int bytes = kBufferBytes;
  if (setsockopt(socket, SOL_SOCKET, forced_option, &bytes, sizeof bytes) < 0)
    set_option(socket, SOL_SOCKET, option, bytes, "set the socket's buffer size");
}

FileDescriptor open_udp(int family) {
  FileDescriptor socket_{
      check_system_call("open a UDP socket", socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0))};
  set_buffer(socket_.number(), SO_RCVBUFFORCE, SO_RCVBUF);
  set_buffer(socket_.number(), SO_SNDBUFFORCE, SO_SNDBUF);
  const int trains = 1;  // ignored by kernels before 5.0, which return every datagram singly
  static_cast<void>(setsockopt(socket_.number(), IPPROTO_UDP, UDP_GRO, &trains, sizeof trains));
  return socket_;
}

bool kernel_has_ipv6() {
  const int probe = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return false;
  const FileDescriptor closed_on_return{probe};
  return true;
}

[[noreturn]] void report_failed_bind(const Address& local) {
  const std::string where = "port " + std::to_string(local.port());
  if (errno == EADDRINUSE) throw InputError{where + " is in use: choose another or stop what listens there"};
  if (errno == EACCES) throw InputError{where + " is reserved: choose one above 1023 or run as root"};
  if (errno == EADDRNOTAVAIL)
    throw InputError{local.to_string() + " is not an address of this machine: `ip address` lists those"};
  throw std::system_error{errno, std::generic_category(), "bind"};
}

}  // namespace

FileDescriptor connect_udp(const Address& receiver) {
  FileDescriptor socket_ = open_udp(receiver.is_ipv6() ? AF_INET6 : AF_INET);
  const std::string attempt = "connect to " + receiver.to_string();
  check_system_call(attempt.c_str(), connect(socket_.number(), receiver.raw(), receiver.raw_bytes()));
  return socket_;
}

FileDescriptor bind_udp(const Address& local) {
  FileDescriptor socket_ = open_udp(local.is_ipv6() ? AF_INET6 : AF_INET);
  if (local.is_ipv6()) {
    set_option(socket_.number(), IPPROTO_IPV6, IPV6_V6ONLY, 0, "listen on IPv4 too");
    set_option(socket_.number(), IPPROTO_IPV6, IPV6_RECVPKTINFO, 1, "ask for destination addresses");
  }
  if (bind(socket_.number(), local.raw(), local.raw_bytes()) < 0) report_failed_bind(local);
  return socket_;
}

Address any_address(uint16_t port) { return Address{kernel_has_ipv6() ? "::" : "0.0.0.0", port}; }

void send_with_ect(int socket) {
  int family = 0;
  socklen_t bytes = sizeof family;
  check_system_call("ask for the socket's family",
                    getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &family, &bytes));
  constexpr int kEct0 = 0b10;
  if (family == AF_INET6) {
    set_option(socket, IPPROTO_IPV6, IPV6_TCLASS, kEct0, "set the traffic class");
  } else {
    set_option(socket, IPPROTO_IP, IP_TOS, kEct0, "set the traffic class");
  }
}

FileDescriptor listen_udp(const Address& local) {
  FileDescriptor socket_ = bind_udp(local);
  set_option(socket_.number(), SOL_SOCKET, SO_TIMESTAMPNS, 1, "ask for receive timestamps");
  set_option(socket_.number(), IPPROTO_IP, IP_RECVTOS, 1, "ask for traffic classes");
  if (local.is_ipv6())
    set_option(socket_.number(), IPPROTO_IPV6, IPV6_RECVTCLASS, 1, "ask for traffic classes");
  return socket_;
}

}  // namespace ccgym
