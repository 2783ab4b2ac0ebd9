// The sockets of the two ends. Both are driven by ppoll and read and written without blocking.
#pragma once

#include <cstdint>

#include "deploy/endpoint/address.hh"
#include "deploy/endpoint/file_descriptor.hh"

namespace ccgym {

// The sender's end: receives from its receiver only.
FileDescriptor connect_udp(const Address& receiver);

// A socket at `local`, port 0: any free one; bound to all addresses ("::"), it takes IPv4 too and the
// kernel says of every datagram to which address it came. Throws InputError when the port is taken or
// not ours to take, or the address is not this machine's.
FileDescriptor bind_udp(const Address& local);

// All addresses of this machine, IPv6 only where the kernel has it.
Address any_address(uint16_t port);

// What leaves from here on may be marked instead of dropped: ECT(0) of RFC 3168.
void send_with_ect(int socket);

// The receiver's end: the kernel also says of every datagram when it came, and of what traffic class it is.
// Throws as bind_udp.
FileDescriptor listen_udp(const Address& local);

}  // namespace ccgym
