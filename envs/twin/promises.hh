// What every controller promises, whatever the network does to its packets; and whether one keeps it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ccgym {

struct Promise {
  std::string_view text;
  std::string breach{};     // when and how it was broken; empty: it is kept
  std::string unchecked{};  // why nobody can tell; empty: it was checked
};

// Runs the scheme over random networks of this seed. Throws what make_controller or the controller throws.
std::vector<Promise> check_promises(std::string_view scheme, unsigned seed);

}  // namespace ccgym
