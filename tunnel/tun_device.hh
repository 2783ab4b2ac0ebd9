// The TUN device, the network interface of the tunnel's namespace.
#pragma once

#include "deploy/endpoint/file_descriptor.hh"
#include "tunnel/private_addresses.hh"

namespace ccgym::tunnel {

inline constexpr const char* kDeviceName = "tunnel";

// Opens a TUN device in the network namespace of the caller. It is read and written without blocking, and
// disappears when it is closed. `offload`: frames of up to 64 KB of TCP, each preceded by a FrameHeader.
// Throws InputError if the user may not open one.
FileDescriptor open_tun(bool offload);

// Sets the device's addresses and MTU (bytes), sets it and the loopback device up, and makes the peer the
// default route.
void configure_tun(const PrivateAddresses& addresses, int mtu);

}  // namespace ccgym::tunnel
