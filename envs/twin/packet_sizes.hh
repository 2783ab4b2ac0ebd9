// Sizes of packets in the emulated network, in bytes. mahimahi counts each packet with the header of its TUN
// device.
#pragma once

#include <cstdint>

#include "transport/wire.hh"

namespace ccgym {

inline constexpr int64_t kTunHeaderBytes = 4;
inline constexpr int64_t kMtuBytes = 1500;                                 // of an IP packet
inline constexpr int64_t kOpportunityBytes = kMtuBytes + kTunHeaderBytes;  // of one delivery opportunity
inline constexpr int64_t kIpUdpHeaderBytes = 28;

// The packets of a flow, with the TUN header.
inline constexpr int64_t kDataTunBytes = int64_t{kDataBytes} + kIpUdpHeaderBytes + kTunHeaderBytes;
inline constexpr int64_t kAckTunBytes = int64_t{kAckBytes} + kIpUdpHeaderBytes + kTunHeaderBytes;

}  // namespace ccgym
