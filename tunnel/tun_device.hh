// The TUN device: the interface of the tunnel's namespace to the network.
#pragma once

#include <cstdint>

#include "deploy/endpoint/file_descriptor.hh"
#include "tunnel/private_addresses.hh"

namespace ccgym::tunnel {

inline constexpr const char* kDeviceName = "tunnel";

// Opens a TUN device in the network namespace of the caller, which is read and written without blocking and
// disappears when it is closed. `offload`: frames of up to 64 KB of TCP, each behind a FrameHeader. Throws
// InputError if the user may not have one.
FileDescriptor open_tun(bool offload);

// Gives the device its addresses and MTU, brings it and the loopback device up, and routes everything to the
// peer.
void configure_tun(const PrivateAddresses& addresses, int mtu);

}  // namespace ccgym::tunnel
