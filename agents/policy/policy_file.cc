#include "agents/policy/policy_file.hh"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "agents/policy/json_checks.hh"
#include "agents/policy/network_file.hh"
#include "agents/policy/regular_file.hh"
#include "agents/policy/safetensors.hh"

namespace ccgym {

namespace {

using nlohmann::json;

constexpr int kFormatVersion = 1;
constexpr std::size_t kMaxFileBytes = 1 << 30;
constexpr double kMaxStepMs = 10'000;
constexpr double kMaxCwndPackets = 1e9;

json parse_metadata(const json& header) {
  const auto pointer = json::json_pointer{"/__metadata__/ccgym"};
  if (!header.is_object()) refuse("the header should be a JSON object, as in safetensors");
  if (!header.contains(pointer) || !header[pointer].is_string()) {
    refuse("the header has no metadata 'ccgym', should have one as ccgym's training writes it");
  }
  for (const auto& [key, value] : header["__metadata__"].items())
    if (!value.is_string())
      refuse("metadata " + ccgym::quoted(key) + " is " + excerpt(value) + ", should be text");
  json metadata = parse_json(header[pointer].get<std::string>());
  for (const char* const optional : {"preference", "companion"})
    if (metadata.is_object() && !metadata.contains(optional)) metadata[optional] = nullptr;
  return metadata;
}

void check_format(const json& metadata) {
  if (metadata.is_object() && metadata.contains("format_version")) {
    expect("format_version", metadata["format_version"], kFormatVersion);
  }
  check_keys(metadata, "metadata 'ccgym'",
             {"format_version", "architecture", "feature_set", "normalisers", "actions", "step_ms",
              "initial_cwnd", "limits", "preference", "companion", "trained_on", "git"});
  const json& architecture = metadata["architecture"];
  const bool stack = architecture.is_object() && architecture.value("kind", json{}) == "stack";
  check_keys(architecture, "architecture", {"kind", "inputs", stack ? "layers" : "hidden", "outputs"});
  check_keys(metadata["limits"], "limits", {"min_cwnd_packets", "max_cwnd_packets"});
}

void check_normalisers(const json& normalisers, FeatureSet feature_set) {
  const std::span<const float> divisors = feature_divisors(feature_set);
  const auto equal = [](const json& given, float right) {
    return given.is_number() && given.get<float>() == right;
  };
  if (normalisers.is_array() && std::ranges::equal(normalisers, divisors, equal)) return;
  if (normalisers.is_array() && normalisers.size() != divisors.size()) {
    refuse("normalisers are " + std::to_string(normalisers.size()) + " numbers, should be " +
           std::to_string(divisors.size()) + ", as many as the feature set " +
           std::string{feature_set_name(feature_set)} +
           " has entries; train it again, if it is of another version");
  }
  refuse("normalisers are " + excerpt(normalisers) + ", should be " +
         json(std::vector<float>(divisors.begin(), divisors.end())).dump() + " as in the feature set " +
         std::string{feature_set_name(feature_set)});
}

// A file without a preference (null, or no key) has the default. Refuses a preference that the features do
// not contain.
double parse_preference(const json& metadata, FeatureSet feature_set) {
  if (metadata["preference"].is_null()) return PolicySpec{}.preference;
  if (!holds_preference(feature_set)) expect("preference", metadata["preference"], nullptr);
  return checked_number(metadata, "preference", 0, 1);
}

// Files that are older than this key have none: every policy with the actions log_window had a companion
// then.
bool parse_companion(const json& metadata, ActionSet actions) {
  const json& companion = metadata["companion"];
  if (companion.is_null()) return actions == ActionSet::log_window;
  if (!companion.is_boolean()) refuse("companion is " + excerpt(companion) + ", should be true or false");
  return companion.get<bool>();
}

PolicySpec parse_spec(const json& metadata) {
  const json& limits = metadata["limits"];
  const double min_cwnd_packets = checked_number(limits, "min_cwnd_packets", 1, kMaxCwndPackets);
  const double max_cwnd_packets =
      checked_number(limits, "max_cwnd_packets", min_cwnd_packets, kMaxCwndPackets);
  const std::chrono::duration<double, std::milli> step{checked_number(metadata, "step_ms", 1, kMaxStepMs)};
  const FeatureSet feature_set = feature_set_by_name(checked_text(metadata, "feature_set"));
  const ActionSet actions = action_set_by_name(checked_text(metadata, "actions"));
  return {
      .feature_set = feature_set,
      .actions = actions,
      .step = std::chrono::duration_cast<Time>(step),
      .initial_cwnd_packets = checked_number(metadata, "initial_cwnd", min_cwnd_packets, max_cwnd_packets),
      .min_cwnd_packets = min_cwnd_packets,
      .max_cwnd_packets = max_cwnd_packets,
      .preference = parse_preference(metadata, feature_set),
      .companion = parse_companion(metadata, actions)};
}

PolicyFile parse(const std::string& bytes) {
  const Safetensors file = split_safetensors(bytes);
  const json metadata = parse_metadata(file.header);
  check_format(metadata);
  const PolicySpec spec = checked_policy(parse_spec(metadata));
  check_normalisers(metadata["normalisers"], spec.feature_set);
  return {spec, read_network(file, metadata["architecture"], spec)};
}

}  // namespace

PolicyFile load_policy(const std::filesystem::path& file) {
  try {
    return parse(read_regular_file(file, "a policy file", kMaxFileBytes));
  } catch (const std::exception& error) {
    throw std::runtime_error(file.string() + ": " + error.what());
  }
}

}  // namespace ccgym
