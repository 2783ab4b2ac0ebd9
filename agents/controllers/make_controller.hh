// The table of schemes: a controller by name.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "transport/congestion_controller.hh"
#include "transport/controller_config.hh"

namespace ccgym {

struct Scheme {
  std::string_view name;
  std::string_view source;    // paper or RFC
  std::string_view argument;  // what may follow "name:"; empty if nothing may
};

// `scheme` is a name of the table, with what the scheme takes after a colon: "copa", "copa:0.1",
// "fixed:40" (packets), "policy:FILE". Throws std::invalid_argument naming the known schemes.
std::unique_ptr<CongestionController> make_controller(std::string_view scheme,
                                                      const ControllerConfig& config);

std::vector<Scheme> known_schemes();

using ControllerFactory = std::unique_ptr<CongestionController> (*)(std::string_view argument,
                                                                    const ControllerConfig& config);

// Registers `make` for the schemes "name:ARGUMENT", a kind that is not part of the core and not listed by
// known_schemes. Call it before the first run.
void register_controllers(std::string_view name, ControllerFactory make);

}  // namespace ccgym
