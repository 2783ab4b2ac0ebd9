// The UDP sockets of the two ends, which are read and written without blocking, and waited for by ppoll.
#pragma once

#include <cstdint>

#include "deploy/endpoint/address.hh"
#include "deploy/endpoint/file_descriptor.hh"

namespace ccgym {

// The sender's socket: it is connected, so that it only receives from its receiver.
FileDescriptor connect_udp(const Address& receiver);

// A socket bound to `local`; port 0 is any free one. An IPv6 socket accepts IPv4 as well, and the kernel
// reports the destination address of every datagram. Throws InputError if the port is in use or reserved, or
// if the address is not one of this machine.
FileDescriptor bind_udp(const Address& local);

// All addresses of this machine: IPv4 and, if the kernel has it, IPv6.
Address any_address(uint16_t port);

// Sends all further packets as ECT(0) (RFC 3168), so that routers may mark them instead of dropping them.
void send_with_ect(int socket);

// The receiver's socket: as bind_udp, and the kernel also reports the arrival time and the traffic class of
// every datagram. Throws as bind_udp.
FileDescriptor listen_udp(const Address& local);

}  // namespace ccgym
