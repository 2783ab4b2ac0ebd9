// `policy.safetensors`: tensors, and a JSON metadata entry `ccgym` that says how they are to be run.
#pragma once

#include <filesystem>
#include <memory>

#include "agents/policy/policy_network.hh"
#include "agents/policy/policy_spec.hh"

namespace ccgym {

struct PolicyFile {
  PolicySpec spec;
  std::unique_ptr<PolicyNetwork> network;
};

// Throws std::runtime_error "FILE: what is wrong, what would be right" for a file that is truncated,
// has another format version, an unknown feature or action set, or tensors of other shapes.
PolicyFile load_policy(const std::filesystem::path& file);

}  // namespace ccgym
