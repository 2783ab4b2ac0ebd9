// The network of a policy file: its architecture, from the metadata, and its tensors.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>

#include "agents/policy/policy_network.hh"
#include "agents/policy/policy_spec.hh"
#include "agents/policy/safetensors.hh"

namespace ccgym {

// `architecture` is the entry of that name in the metadata: of kind "lstm" (Indigo's), "mlp" (Aurora's) or
// "stack" (a list of layers). Throws std::runtime_error or std::invalid_argument, without the name of the
// file, if it is unknown, does not fit the features and actions of `spec`, or does not fit the tensors.
std::unique_ptr<PolicyNetwork> read_network(const Safetensors& file, const nlohmann::json& architecture,
                                            const PolicySpec& spec);

}  // namespace ccgym
