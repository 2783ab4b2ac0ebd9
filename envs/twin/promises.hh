// Checks whether a controller keeps what every controller promises, whatever the network does to its packets.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ccgym {

struct Promise {
  std::string_view text;
  std::string breach{};     // when and how the promise was broken; empty: it is kept
  std::string unchecked{};  // why it could not be checked; empty: it was
};

// Runs the scheme over random networks of this seed. Throws what make_controller or the controller throws.
std::vector<Promise> check_promises(std::string_view scheme, unsigned seed);

}  // namespace ccgym
