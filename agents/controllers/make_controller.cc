#include "agents/controllers/make_controller.hh"

#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "agents/controllers/bbr/bbr.hh"
#include "agents/controllers/bbr/bbr3.hh"
#include "agents/controllers/copa.hh"
#include "agents/controllers/cubic.hh"
#include "agents/controllers/dctcp.hh"
#include "agents/controllers/fixed_rate.hh"
#include "agents/controllers/fixed_window.hh"
#include "agents/controllers/gcc/gcc.hh"
#include "agents/controllers/ledbat.hh"
#include "agents/controllers/new_reno.hh"
#include "agents/controllers/pcc/allegro.hh"
#include "agents/controllers/pcc/pcc.hh"
#include "agents/controllers/pcc/vivace.hh"
#include "agents/controllers/remy.hh"
#include "agents/controllers/scream/scream.hh"
#include "agents/controllers/sprout/sprout.hh"
#include "agents/controllers/vegas.hh"
#include "agents/controllers/verus/verus.hh"
#include "agents/policy/policy.hh"
#include "agents/policy/policy_file.hh"
#include "transport/name_list.hh"
#include "transport/parse_number.hh"

namespace ccgym {

namespace {

struct TableEntry {
  Scheme scheme;
  ControllerFactory make;
};

[[noreturn]] void refuse_argument(std::string_view scheme, std::string_view argument,
                                  std::string_view right) {
  throw std::invalid_argument("scheme " + std::string{scheme} + ": argument '" + std::string{argument} +
                              "' " + std::string{right});
}

// The number that the argument consists of; any other argument is refused with `right`.
double number(std::string_view scheme, std::string_view argument, std::string_view right) {
  const std::optional<double> value = parse_number<double>(argument);
  if (!value) refuse_argument(scheme, argument, right);
  return *value;
}

std::unique_ptr<CongestionController> make_fixed(std::string_view argument, const ControllerConfig& config) {
  const double packets = number("fixed", argument, "is not a window in packets, as in fixed:40");
  return std::make_unique<FixedWindow>(config.packet_bytes, FixedWindow::Config{.cwnd_packets = packets});
}

// Whether the argument selects `variant`. An empty argument selects the default; any other is refused.
bool is_variant(std::string_view scheme, std::string_view argument, std::string_view variant) {
  if (argument.empty()) return false;
  if (argument != variant) {
    refuse_argument(scheme, argument,
                    "is unknown, " + std::string{scheme} + " takes none or " + std::string{variant});
  }
  return true;
}

std::unique_ptr<CongestionController> make_rate(std::string_view argument, const ControllerConfig& config) {
  const double rate_mbps = number("rate", argument, "is not a rate in Mbit/s, as in rate:12");
  return std::make_unique<FixedRate>(config.packet_bytes, FixedRate::Config{.rate_mbps = rate_mbps});
}

template <class Learner>
std::unique_ptr<CongestionController> make_pcc(std::string_view scheme, std::string_view argument,
                                               const ControllerConfig& config) {
  typename Learner::Config learner;
  if (is_variant(scheme, argument, "loss")) learner.utility = Learner::Utility::loss;
  return std::make_unique<Pcc>(Pcc::with<Learner>(config.packet_bytes, learner, config.seed));
}

std::unique_ptr<CongestionController> make_allegro(std::string_view argument,
                                                   const ControllerConfig& config) {
  return make_pcc<Allegro>("allegro", argument, config);
}

std::unique_ptr<CongestionController> make_vivace(std::string_view argument, const ControllerConfig& config) {
  return make_pcc<Vivace>("vivace", argument, config);
}

template <class Controller>
std::unique_ptr<Controller> make(const ControllerConfig& config) {
  if constexpr (std::is_constructible_v<Controller, int64_t, uint64_t>) {
    return std::make_unique<Controller>(config.packet_bytes, config.seed);
  } else {
    return std::make_unique<Controller>(config.packet_bytes);
  }
}

// Makes a scheme that takes no argument.
template <class Controller>
std::unique_ptr<CongestionController> make_plain(std::string_view argument, const ControllerConfig& config) {
  auto controller = make<Controller>(config);
  const std::string name{controller->name()};
  if (!argument.empty()) refuse_argument(name, argument, "is one too many, " + name + " takes none");
  return controller;
}

std::unique_ptr<CongestionController> make_copa(std::string_view argument, const ControllerConfig& config) {
  Copa::Config copa;
  if (!argument.empty()) copa.delta = number("copa", argument, "is not a delta, as in copa:0.5");
  return std::make_unique<Copa>(config.packet_bytes, copa);
}

// Splits FILE or FILE:PREFERENCE. What follows the last colon is a preference only if it is a number, because
// a file name may contain colons.
std::pair<std::string_view, std::optional<double>> split_preference(std::string_view argument) {
  const std::size_t colon = argument.rfind(':');
  if (colon == std::string_view::npos) return {argument, std::nullopt};
  const std::optional<double> preference = parse_number<double>(argument.substr(colon + 1));
  return {preference ? argument.substr(0, colon) : argument, preference};
}

std::unique_ptr<CongestionController> make_verus(std::string_view argument, const ControllerConfig& config) {
  Verus::Config verus;
  if (!argument.empty())
    verus.delay_ratio = number("verus", argument, "is not a ratio of delays, as in verus:2");
  return std::make_unique<Verus>(config.packet_bytes, verus);
}

std::unique_ptr<CongestionController> make_remy(std::string_view argument, const ControllerConfig& config) {
  if (argument.empty()) refuse_argument("remy", argument, "is not a rule table, as in remy:table.json");
  return std::make_unique<Remy>(config.packet_bytes, load_remy_table(argument));
}

std::unique_ptr<CongestionController> make_policy(std::string_view argument, const ControllerConfig& config) {
  if (argument.empty())
    refuse_argument("policy", argument, "is not a policy file, as in policy:policy.safetensors");
  const auto [path, preference] = split_preference(argument);
  PolicyFile file = load_policy(path);
  if (preference) file.spec = with_preference(file.spec, *preference);
  return std::make_unique<PolicyController>(file.spec, config, std::move(file.network));
}

const std::array kTable{
    TableEntry{{"allegro", "PCC Allegro: Dong et al., NSDI 2015", "loss: its utility"}, make_allegro},
    TableEntry{{"bbr", "Cardwell et al., ACM Queue 2016 (version 1)", ""}, make_plain<Bbr>},
    TableEntry{{"bbr3", "draft-ietf-ccwg-bbr (version 3)", ""}, make_plain<Bbr3>},
    TableEntry{{"copa", "Arun and Balakrishnan, NSDI 2018", "delta, default 0.5"}, make_copa},
    TableEntry{{"cubic", "RFC 9438, 6937, HyStart", ""}, make_plain<Cubic>},
    TableEntry{{"dctcp", "RFC 8257", ""}, make_plain<Dctcp>},
    TableEntry{{"fixed", "a constant window", "window in packets"}, make_fixed},
    TableEntry{{"gcc", "draft-ietf-rmcat-gcc-02", ""}, make_plain<Gcc>},
    TableEntry{{"ledbat", "RFC 6817", ""}, make_plain<Ledbat>},
    TableEntry{{"policy", "a learned policy, as Indigo (Pantheon, ATC 2018)", "FILE or FILE:PREFERENCE"},
               make_policy},
    TableEntry{{"rate", "a constant rate", "rate in Mbit/s of UDP payload"}, make_rate},
    TableEntry{{"remy", "RemyCC: Winstein and Balakrishnan, SIGCOMM 2013", "rule table"}, make_remy},
    TableEntry{{"reno", "RFC 5681, 6582, 6937", ""}, make_plain<NewReno>},
    TableEntry{{"scream", "RFC 8298", ""}, make_plain<Scream>},
    TableEntry{{"sprout", "Winstein et al., NSDI 2013", ""}, make_plain<Sprout>},
    TableEntry{{"vegas", "Brakmo and Peterson, JSAC 1995", ""}, make_plain<Vegas>},
    TableEntry{{"verus", "Zaki et al., SIGCOMM 2015", "ratio of delays R, default 6"}, make_verus},
    TableEntry{{"vivace", "PCC Vivace: Dong et al., NSDI 2018", "loss: its utility"}, make_vivace},
};

std::vector<std::pair<std::string, ControllerFactory>>& registered() {
  static std::vector<std::pair<std::string, ControllerFactory>> factories;
  return factories;
}

ControllerFactory find_factory(std::string_view name) {
  for (const TableEntry& entry : kTable)
    if (entry.scheme.name == name) return entry.make;
  for (const auto& [registered_name, make] : registered())
    if (registered_name == name) return make;
  return nullptr;
}

[[noreturn]] void refuse_scheme(std::string_view name) {
  const auto name_of = [](const TableEntry& entry) { return entry.scheme.name; };
  throw std::invalid_argument("unknown scheme '" + std::string{name} +
                              "'; known: " + name_list(kTable, name_of));
}

}  // namespace

std::unique_ptr<CongestionController> make_controller(std::string_view scheme,
                                                      const ControllerConfig& config) {
  const std::size_t colon = scheme.find(':');
  const std::string_view name = scheme.substr(0, colon);
  const std::string_view argument = colon == std::string_view::npos ? "" : scheme.substr(colon + 1);
  const ControllerFactory make = find_factory(name);
  if (make == nullptr) refuse_scheme(name);
  return make(argument, config);
}

void register_controllers(std::string_view name, ControllerFactory make) {
  registered().emplace_back(name, make);
}

std::vector<Scheme> known_schemes() {
  std::vector<Scheme> schemes;
  for (const TableEntry& entry : kTable) schemes.push_back(entry.scheme);
  return schemes;
}

}  // namespace ccgym
