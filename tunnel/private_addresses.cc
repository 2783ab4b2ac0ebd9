#include "tunnel/private_addresses.hh"

#include <arpa/inet.h>
#include <ifaddrs.h>

#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <vector>

#include "deploy/endpoint/errors.hh"

namespace ccgym::tunnel {

namespace {

constexpr uint32_t kFirst = 0x64400001;  // 100.64.0.1, of the shared address space (RFC 6598)
constexpr uint32_t kLast = 0x644000fe;

struct Route {
  uint32_t destination;  // both in network byte order, as the kernel prints them
  uint32_t mask;
};

std::vector<Route> routes() {
  std::ifstream table{"/proc/net/route"};
  std::string line;
  std::getline(table, line);
  std::vector<Route> found;
  while (std::getline(table, line)) {
    std::istringstream fields{line};
    std::string interface, gateway, flags, references, use, metric;
    Route route{};
    fields >> interface >> std::hex >> route.destination >> gateway >> flags >> references >> use >> metric >>
        route.mask;
    if (fields && route.mask != 0) found.push_back(route);
  }
  return found;
}

// The interface of this machine that has this address.
std::optional<std::string> interface_with(in_addr address) {
  ifaddrs* first = nullptr;
  check_system_call("list the interfaces", getifaddrs(&first));
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> list{first, freeifaddrs};
  for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != AF_INET) continue;
    if (reinterpret_cast<const sockaddr_in*>(entry->ifa_addr)->sin_addr.s_addr == address.s_addr)
      return entry->ifa_name;
  }
  return std::nullopt;
}

bool is_unused(in_addr address, const std::vector<Route>& known) {
  for (const Route& route : known)
    if ((address.s_addr & route.mask) == route.destination) return false;
  return !interface_with(address);
}

}  // namespace

std::string to_string(in_addr address) {
  char text[INET_ADDRSTRLEN];
  return inet_ntop(AF_INET, &address, text, sizeof text);
}

in_addr parse_private_address(const std::string& text) {
  in_addr address{};
  const bool numeric = inet_pton(AF_INET, text.c_str(), &address) == 1;
  const uint32_t first_byte = ntohl(address.s_addr) >> 24;
  if (!numeric || first_byte == 0 || first_byte == 127 || first_byte >= 224)
    throw InputError{"'" + text + "' is not an IPv4 address for an end of the tunnel: 100.64.0.1 would be"};
  return address;
}

PrivateAddresses unused_addresses() {
  const std::vector<Route> known = routes();
  std::vector<in_addr> unused;
  for (uint32_t number = kFirst; number <= kLast && unused.size() < 2; ++number)
    if (is_unused({htonl(number)}, known)) unused.push_back({htonl(number)});
  if (unused.size() < 2)
    throw InputError{"100.64.0.0/24 is in use here: choose addresses with --local and --peer"};
  return {unused[0], unused[1]};
}

void check_unused(const PrivateAddresses& addresses) {
  if (addresses.local.s_addr == addresses.peer.s_addr)
    throw InputError{"both ends cannot be " + to_string(addresses.local) + ": give two different addresses"};
  for (const in_addr address : {addresses.local, addresses.peer})
    if (const auto interface = interface_with(address))
      throw InputError{"address " + to_string(address) + " is in use here by " + *interface +
                       ": choose others with --local and --peer, or leave the choice to the server"};
}

}  // namespace ccgym::tunnel
