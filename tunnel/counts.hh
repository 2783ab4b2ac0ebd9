// What a tunnel has counted, for its last line of output.
#pragma once

#include <cstdint>
#include <string>

namespace ccgym::tunnel {

struct Counts {
  uint64_t sent{};
  uint64_t received{};
  uint64_t strangers{};  // datagrams neither from the peer's address nor with its MAC
  uint64_t altered{};
  uint64_t replayed{};
  uint64_t malformed{};
  uint64_t oversized{};      // beyond the MTU: datagrams of the network, packets of the device
  uint64_t undeliverable{};  // the system refused them: packets to the device, datagrams to the network

  [[nodiscard]] std::string to_string() const;
};

}  // namespace ccgym::tunnel
