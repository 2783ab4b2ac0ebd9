// The counters of a tunnel, for its last line of output.
#pragma once

#include <cstdint>
#include <string>

namespace ccgym::tunnel {

struct Counts {
  uint64_t sent{};       // packets
  uint64_t received{};   // packets
  uint64_t strangers{};  // datagrams neither from the peer's address nor with its MAC
  uint64_t altered{};    // datagrams from the peer's address with a wrong MAC
  uint64_t replayed{};   // datagrams with a UID that has been received before
  uint64_t malformed{};
  uint64_t oversized{};      // beyond the MTU: datagrams of the network, packets of the device
  uint64_t undeliverable{};  // the system refused them: packets to the device, datagrams to the network

  [[nodiscard]] std::string to_string() const;
};

}  // namespace ccgym::tunnel
