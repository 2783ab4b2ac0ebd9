#include "agents/controllers/make_controller.hh"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <string>
#include <utility>

#include "agents/controllers/bbr/bbr.hh"
#include "agents/controllers/bbr/bbr3.hh"
#include "agents/controllers/copa.hh"
#include "agents/controllers/cubic.hh"
#include "agents/controllers/fixed_window.hh"
#include "agents/controllers/ledbat.hh"
#include "agents/controllers/new_reno.hh"
#include "agents/controllers/policy/policy_file.hh"
#include "agents/controllers/vegas.hh"

namespace ccgym {

namespace {

using Factory = std::unique_ptr<CongestionController> (*)(std::string_view argument,
                                                          const ControllerConfig& config);

struct TableEntry {
  Scheme scheme;
  Factory make;
};

[[noreturn]] void refuse_argument(std::string_view scheme, std::string_view argument,
                                  std::string_view right) {
  throw std::invalid_argument("scheme " + std::string{scheme} + ": argument '" + std::string{argument} +
                              "' " + std::string{right});
}

// A number in [lowest, highest]; NaN and what is not a number as a whole are refused.
double number(std::string_view scheme, std::string_view text, double lowest, double highest,
              std::string_view right) {
  double value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  if (!whole || !(value >= lowest && value <= highest)) refuse_argument(scheme, text, right);
  return value;
}

std::unique_ptr<CongestionController> make_fixed(std::string_view argument, const ControllerConfig& config) {
  const double packets =
      number("fixed", argument, 1, 1e9, "is not a window in packets, 1 to 1e9, as in fixed:40");
  return std::make_unique<FixedWindow>(config.packet_bytes, packets);
}

template <class Controller>
std::unique_ptr<Controller> make(const ControllerConfig& config) {
  if constexpr (std::is_constructible_v<Controller, int64_t, uint64_t>) {
    return std::make_unique<Controller>(config.packet_bytes, config.seed);
  } else {
    return std::make_unique<Controller>(config.packet_bytes);
  }
}

// A scheme that takes no argument.
template <class Controller>
std::unique_ptr<CongestionController> make_plain(std::string_view argument, const ControllerConfig& config) {
  auto controller = make<Controller>(config);
  const std::string name{controller->name()};
  if (!argument.empty()) refuse_argument(name, argument, "is one too many, " + name + " takes none");
  return controller;
}

std::unique_ptr<CongestionController> make_copa(std::string_view argument, const ControllerConfig& config) {
  if (argument.empty()) return std::make_unique<Copa>(config.packet_bytes);
  const double delta = number("copa", argument, 1e-6, 1e3, "is not a delta, 1e-6 to 1e3, as in copa:0.5");
  return std::make_unique<Copa>(config.packet_bytes, delta);
}

std::unique_ptr<CongestionController> make_policy(std::string_view argument, const ControllerConfig& config) {
  if (argument.empty())
    refuse_argument("policy", argument, "is not a policy file, as in policy:policy.safetensors");
  PolicyFile file = load_policy(argument);
  return std::make_unique<PolicyController>(file.spec, config.packet_bytes, std::move(file.network));
}

const std::array kTable{
    TableEntry{{"bbr", "Cardwell et al., ACM Queue 2016 (version 1)", ""}, make_plain<Bbr>},
    TableEntry{{"bbr3", "draft-ietf-ccwg-bbr (version 3)", ""}, make_plain<Bbr3>},
    TableEntry{{"copa", "Arun and Balakrishnan, NSDI 2018", "delta, default 0.5"}, make_copa},
    TableEntry{{"cubic", "RFC 9438, 6937, HyStart", ""}, make_plain<Cubic>},
    TableEntry{{"fixed", "a constant window", "window in packets"}, make_fixed},
    TableEntry{{"ledbat", "RFC 6817", ""}, make_plain<Ledbat>},
    TableEntry{{"policy", "a learned policy, as Indigo (Pantheon, ATC 2018)", "policy file"}, make_policy},
    TableEntry{{"reno", "RFC 5681, 6582, 6937", ""}, make_plain<NewReno>},
    TableEntry{{"vegas", "Brakmo and Peterson, JSAC 1995", ""}, make_plain<Vegas>},
};

[[noreturn]] void refuse_scheme(std::string_view name) {
  std::string known;
  for (const TableEntry& entry : kTable)
    known += (known.empty() ? "" : ", ") + std::string{entry.scheme.name};
  throw std::invalid_argument("unknown scheme '" + std::string{name} + "'; known: " + known);
}

}  // namespace

std::unique_ptr<CongestionController> make_controller(std::string_view scheme,
                                                      const ControllerConfig& config) {
  const std::size_t colon = scheme.find(':');
  const std::string_view name = scheme.substr(0, colon);
  const std::string_view argument = colon == std::string_view::npos ? "" : scheme.substr(colon + 1);
  const auto entry = std::ranges::find(kTable, name, [](const TableEntry& row) { return row.scheme.name; });
  if (entry == kTable.end()) refuse_scheme(name);
  return entry->make(argument, config);
}

std::vector<Scheme> known_schemes() {
  std::vector<Scheme> schemes;
  for (const TableEntry& entry : kTable) schemes.push_back(entry.scheme);
  return schemes;
}

}  // namespace ccgym
