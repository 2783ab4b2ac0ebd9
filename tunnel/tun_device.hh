// The TUN device: what the tunnel's namespace sees of the network.
#pragma once

#include <cstdint>

#include "deploy/endpoint/file_descriptor.hh"
#include "tunnel/private_addresses.hh"

namespace ccgym::tunnel {

inline constexpr const char* kDeviceName = "tunnel";

// In the network namespace of the caller; read and written without blocking. It is gone when it is
// closed. `offload`: frames of up to 64 KB of TCP, each behind a FrameHeader. Throws InputError when the
// user may not have one.
FileDescriptor open_tun(bool offload);

// Gives the device its addresses and MTU, sets it and the loopback up, and routes everything to the peer.
void configure_tun(const PrivateAddresses& addresses, int mtu);

}  // namespace ccgym::tunnel
