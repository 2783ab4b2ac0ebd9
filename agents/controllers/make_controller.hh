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
  std::string_view argument;  // what may follow "name:", empty when nothing may
};

// `scheme` is a name of the table, with what the scheme takes after a colon: "copa", "copa:0.1",
// "fixed:40" (packets), "policy:FILE". Throws std::invalid_argument naming the known schemes.
std::unique_ptr<CongestionController> make_controller(std::string_view scheme,
                                                      const ControllerConfig& config);

std::vector<Scheme> known_schemes();

using ControllerFactory = std::unique_ptr<CongestionController> (*)(std::string_view argument,
                                                                    const ControllerConfig& config);

// From now on `make` makes what is called "name:ARGUMENT": of a kind that is not the core's own, and that
// known_schemes does not list. Before the first run.
void register_controllers(std::string_view name, ControllerFactory make);

}  // namespace ccgym
