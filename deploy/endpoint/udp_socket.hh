// The sockets of the two ends. Both are driven by ppoll and read and written without blocking.
#pragma once

#include <cstdint>

#include "deploy/endpoint/address.hh"
#include "deploy/endpoint/file_descriptor.hh"

namespace ccgym {

// The sender's end: hears its receiver only.
FileDescriptor connect_udp(const Address& receiver);

// The receiver's end: any local address, IPv4 and IPv6; the kernel says of every datagram when it
// came and to which address. Throws InputError when the port is taken or not ours to take.
FileDescriptor listen_udp(uint16_t port);

}  // namespace ccgym
