// The command line of ccgym-sender.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "agents/policy/policy_spec.hh"
#include "deploy/endpoint/address.hh"
#include "deploy/endpoint/command_line.hh"
#include "transport/siphash.hh"
#include "transport/traffic.hh"

namespace ccgym {

// A gym that chooses the actions, instead of a scheme: see gym_link.hh.
struct GymOptions {
  std::string socket;  // file of the Unix socket
  PolicySpec policy;
};

struct SenderOptions {
  Address receiver;
  std::string scheme;             // NAME or NAME:ARG, for make_controller; "gym" with a gym
  std::optional<GymOptions> gym;  // absent: `scheme` decides
  std::optional<Time> duration;   // absent: until a stop signal
  uint64_t seed;                  // of the scheme
  Traffic traffic;
  std::optional<std::string> stats_file;
  std::optional<SipKey> secret;
};

OptionNames sender_option_names();

// Usage and options; the list of schemes follows.
std::string sender_help();

// Throws InputError if the option --scheme is missing.
std::string scheme_of(const CommandLine& line);

// Throws InputError for bad arguments and options.
SenderOptions parse_sender_options(const CommandLine& line);

}  // namespace ccgym
