// The sockets of the two ends. Both are driven by ppoll and read and written without blocking.
#pragma once

#include <cstdint>

#include "deploy/endpoint/address.hh"
#include "deploy/endpoint/file_descriptor.hh"

namespace ccgym {

// The sender's socket: it receives from its receiver only.
FileDescriptor connect_udp(const Address& receiver);

// A socket at `local`; port 0 means any free one. Bound to all addresses ("::") it takes IPv4 too, and the
// kernel reports for every datagram which address it was sent to. Throws InputError if the port is taken or
// not permitted, or the address is not one of this machine.
FileDescriptor bind_udp(const Address& local);

// All addresses of this machine, IPv6 only where the kernel has it.
Address any_address(uint16_t port);

// Packets sent from now on may be marked instead of dropped: ECT(0) of RFC 3168.
void send_with_ect(int socket);

// The receiver's socket: the kernel also reports when every datagram arrived, and its traffic class. Throws
// as bind_udp.
FileDescriptor listen_udp(const Address& local);

}  // namespace ccgym
