#include "agents/policy/policy_file.hh"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "agents/policy/json_checks.hh"
#include "agents/policy/lstm_network.hh"
#include "agents/policy/mlp_network.hh"
#include "agents/policy/safetensors.hh"

namespace ccgym {

namespace {

using nlohmann::json;

constexpr int kFormatVersion = 1;
constexpr std::size_t kMaxHidden = 4096;
constexpr std::size_t kMaxLayers = 16;
constexpr std::uintmax_t kMaxFileBytes = 1 << 30;
constexpr double kMaxStepMs = 10'000;
constexpr double kMaxCwndPackets = 1e9;

std::string read_bytes(const std::filesystem::path& file) {
  if (std::filesystem::is_directory(file)) refuse("is a folder, should be a policy file");
  if (std::filesystem::exists(file)) {  // what can be opened without waiting, and ends
    if (!std::filesystem::is_regular_file(file)) refuse("is no regular file, should be a policy file");
    if (std::filesystem::file_size(file) > kMaxFileBytes) refuse("has more than 1 GB");
  }
  std::ifstream stream{file, std::ios::binary};
  std::string bytes{std::istreambuf_iterator<char>{stream}, {}};
  if (!stream.is_open()) refuse(std::string{"cannot be read: "} + std::strerror(errno));
  return bytes;
}

json parse_metadata(const json& header) {
  const auto pointer = json::json_pointer{"/__metadata__/ccgym"};
  if (!header.is_object()) refuse("the header should be a JSON object, as in safetensors");
  if (!header.contains(pointer) || !header[pointer].is_string()) {
    refuse("the header has no metadata 'ccgym', should have one as ccgym's training writes it");
  }
  json metadata = parse_json(header[pointer].get<std::string>());
  if (metadata.is_object() && !metadata.contains("preference")) metadata["preference"] = nullptr;
  return metadata;
}

void check_format(const json& metadata) {
  if (metadata.is_object() && metadata.contains("format_version")) {
    expect("format_version", metadata["format_version"], kFormatVersion);
  }
  check_keys(metadata, "metadata 'ccgym'",
             {"format_version", "architecture", "feature_set", "normalisers", "actions", "step_ms",
              "initial_cwnd", "limits", "preference", "trained_on", "git"});
  check_keys(metadata["architecture"], "architecture", {"kind", "inputs", "hidden", "outputs"});
  check_keys(metadata["limits"], "limits", {"min_cwnd_packets", "max_cwnd_packets"});
}

void check_normalisers(const json& normalisers, FeatureSet feature_set) {
  const std::span<const float> divisors = feature_divisors(feature_set);
  const auto equal = [](const json& given, float right) {
    return given.is_number() && given.get<float>() == right;
  };
  if (normalisers.is_array() && std::ranges::equal(normalisers, divisors, equal)) return;
  refuse("normalisers are " + excerpt(normalisers) + ", should be " +
         json(std::vector<float>(divisors.begin(), divisors.end())).dump() + " as in the feature set " +
         std::string{feature_set_name(feature_set)});
}

// null, or left out: the middle of the dial, or no dial where the features hold none.
double parse_preference(const json& metadata, FeatureSet feature_set) {
  if (metadata["preference"].is_null()) return PolicySpec{}.preference;
  if (!holds_preference(feature_set)) expect("preference", metadata["preference"], nullptr);
  return number(metadata, "preference", 0, 1);
}

PolicySpec parse_spec(const json& metadata) {
  const json& limits = metadata["limits"];
  const double min_cwnd_packets = number(limits, "min_cwnd_packets", 1, kMaxCwndPackets);
  const double max_cwnd_packets = number(limits, "max_cwnd_packets", min_cwnd_packets, kMaxCwndPackets);
  const std::chrono::duration<double, std::milli> step{number(metadata, "step_ms", 1, kMaxStepMs)};
  const FeatureSet feature_set = feature_set_by_name(text(metadata, "feature_set"));
  return {.feature_set = feature_set,
          .actions = action_set_by_name(text(metadata, "actions")),
          .step = std::chrono::duration_cast<Time>(step),
          .initial_cwnd_packets = number(metadata, "initial_cwnd", min_cwnd_packets, max_cwnd_packets),
          .min_cwnd_packets = min_cwnd_packets,
          .max_cwnd_packets = max_cwnd_packets,
          .preference = parse_preference(metadata, feature_set)};
}

std::unique_ptr<PolicyNetwork> read_lstm(const Safetensors& file, const json& hidden, std::size_t inputs,
                                         std::size_t outputs) {
  LstmWeights weights;
  weights.inputs = inputs;
  weights.outputs = outputs;
  weights.hidden = size(hidden, "hidden", kMaxHidden);
  const std::size_t gates = 4 * weights.hidden;
  read_tensors(file, {{"lstm.weight_ih_l0", {gates, weights.inputs}, weights.weight_ih},
                      {"lstm.weight_hh_l0", {gates, weights.hidden}, weights.weight_hh},
                      {"lstm.bias_ih_l0", {gates}, weights.bias_ih},
                      {"lstm.bias_hh_l0", {gates}, weights.bias_hh},
                      {"linear.weight", {weights.outputs, weights.hidden}, weights.head_weight},
                      {"linear.bias", {weights.outputs}, weights.head_bias}});
  return std::make_unique<LstmNetwork>(weights);
}

// The layers between so many inputs and outputs, still without weights.
std::vector<LinearWeights> layers_of(const json& hidden, std::size_t inputs, std::size_t outputs) {
  if (!hidden.is_array() || hidden.size() > kMaxLayers) {
    refuse("hidden is " + excerpt(hidden) + ", should be the sizes of up to " + std::to_string(kMaxLayers) +
           " layers");
  }
  std::vector<LinearWeights> layers;
  for (const json& units : hidden) {
    layers.push_back({.inputs = inputs, .outputs = size(units, "hidden", kMaxHidden)});
    inputs = layers.back().outputs;
  }
  layers.push_back({.inputs = inputs, .outputs = outputs});
  return layers;
}

std::unique_ptr<PolicyNetwork> read_mlp(const Safetensors& file, const json& hidden, std::size_t inputs,
                                        std::size_t outputs) {
  std::vector<LinearWeights> layers = layers_of(hidden, inputs, outputs);
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string name = "layers." + std::to_string(i);
    tensors.push_back({name + ".weight", {layers[i].outputs, layers[i].inputs}, layers[i].weight});
    tensors.push_back({name + ".bias", {layers[i].outputs}, layers[i].bias});
  }
  read_tensors(file, tensors);
  return std::make_unique<MlpNetwork>(layers);
}

// An architecture that fits the features and the actions, with its weights.
std::unique_ptr<PolicyNetwork> read_network(const Safetensors& file, const json& architecture,
                                            const PolicySpec& spec) {
  const std::size_t inputs = feature_divisors(spec.feature_set).size();
  const std::size_t outputs = action_count(spec.actions);
  expect("inputs", architecture["inputs"], inputs);
  expect("outputs", architecture["outputs"], outputs);
  const std::string kind = text(architecture, "kind");
  if (kind == "lstm") return read_lstm(file, architecture["hidden"], inputs, outputs);
  if (kind == "mlp") return read_mlp(file, architecture["hidden"], inputs, outputs);
  refuse("architecture kind is " + excerpt(kind) + ", should be \"lstm\" or \"mlp\"");
}

PolicyFile parse(const std::string& bytes) {
  const Safetensors file = split_safetensors(bytes);
  const json metadata = parse_metadata(file.header);
  check_format(metadata);
  const PolicySpec spec = parse_spec(metadata);
  check_normalisers(metadata["normalisers"], spec.feature_set);
  return {spec, read_network(file, metadata["architecture"], spec)};
}

}  // namespace

PolicyFile load_policy(const std::filesystem::path& file) {
  try {
    return parse(read_bytes(file));
  } catch (const std::exception& error) {
    throw std::runtime_error(file.string() + ": " + error.what());
  }
}

}  // namespace ccgym
