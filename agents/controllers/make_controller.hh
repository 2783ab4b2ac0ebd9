// The table of schemes: makes a controller by its name.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "transport/congestion_controller.hh"
#include "transport/controller_config.hh"

namespace ccgym {

struct Scheme {
  std::string_view name;
  std::string_view source;    // paper or RFC
  std::string_view argument;  // description of what may follow "name:"; empty if the scheme takes no argument
};

// `scheme` is a name of the table, or "name:argument": "copa", "copa:0.1", "fixed:40" (packets),
// "policy:FILE". Throws std::invalid_argument for an unknown name, with the list of the known ones, and for
// an argument that the scheme does not accept.
std::unique_ptr<CongestionController> make_controller(std::string_view scheme,
                                                      const ControllerConfig& config);

std::vector<Scheme> known_schemes();

using ControllerFactory = std::unique_ptr<CongestionController> (*)(std::string_view argument,
                                                                    const ControllerConfig& config);

// Adds schemes "name:ARGUMENT" that are made outside of the core; known_schemes does not list them. Not
// thread-safe: call it before the first run.
void register_controllers(std::string_view name, ControllerFactory make);

}  // namespace ccgym
