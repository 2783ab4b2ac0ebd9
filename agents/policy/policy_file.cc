#include "agents/policy/policy_file.hh"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include "agents/policy/json_checks.hh"
#include "agents/policy/regular_file.hh"
#include "agents/policy/safetensors.hh"
#include "agents/policy/stack_network.hh"

namespace ccgym {

namespace {

using nlohmann::json;

constexpr int kFormatVersion = 1;
constexpr std::size_t kMaxHidden = 4096;
constexpr std::size_t kMaxLayers = 16;
constexpr std::size_t kMaxStack = 64;
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

// null, or left out: 0.5, or none where the features hold none.
double parse_preference(const json& metadata, FeatureSet feature_set) {
  if (metadata["preference"].is_null()) return PolicySpec{}.preference;
  if (!holds_preference(feature_set)) expect("preference", metadata["preference"], nullptr);
  return number(metadata, "preference", 0, 1);
}

// null, or left out, as in files older than the key: a logarithm of the window had one.
bool parse_companion(const json& metadata, ActionSet actions) {
  const json& companion = metadata["companion"];
  if (companion.is_null()) return actions == ActionSet::log_window;
  if (!companion.is_boolean()) refuse("companion is " + excerpt(companion) + ", should be true or false");
  return companion.get<bool>();
}

PolicySpec parse_spec(const json& metadata) {
  const json& limits = metadata["limits"];
  const double min_cwnd_packets = number(limits, "min_cwnd_packets", 1, kMaxCwndPackets);
  const double max_cwnd_packets = number(limits, "max_cwnd_packets", min_cwnd_packets, kMaxCwndPackets);
  const std::chrono::duration<double, std::milli> step{number(metadata, "step_ms", 1, kMaxStepMs)};
  const FeatureSet feature_set = feature_set_by_name(text(metadata, "feature_set"));
  const ActionSet actions = action_set_by_name(text(metadata, "actions"));
  return {.feature_set = feature_set,
          .actions = actions,
          .step = std::chrono::duration_cast<Time>(step),
          .initial_cwnd_packets = number(metadata, "initial_cwnd", min_cwnd_packets, max_cwnd_packets),
          .min_cwnd_packets = min_cwnd_packets,
          .max_cwnd_packets = max_cwnd_packets,
          .preference = parse_preference(metadata, feature_set),
          .companion = parse_companion(metadata, actions)};
}

// A layer that the file names, with the weights that it will have.
struct LayerPlan {
  std::string kind;
  std::string name;  // its tensors begin with it
  std::size_t inputs;
  std::size_t outputs;
  std::array<std::vector<float>, 4> weights{};
};

bool has_memory(const LayerPlan& plan) { return plan.kind == "lstm" || plan.kind == "gru"; }

void add_tensors(LayerPlan& plan, const std::string& suffix, std::vector<Tensor>& tensors) {
  auto& weights = plan.weights;
  if (plan.kind == "linear") {
    tensors.push_back({plan.name + ".weight", {plan.outputs, plan.inputs}, weights[0]});
    tensors.push_back({plan.name + ".bias", {plan.outputs}, weights[1]});
  } else if (plan.kind == "layer_norm") {
    tensors.push_back({plan.name + ".weight", {plan.inputs}, weights[0]});
    tensors.push_back({plan.name + ".bias", {plan.inputs}, weights[1]});
  } else if (has_memory(plan)) {
    const std::size_t gates = (plan.kind == "lstm" ? 4 : 3) * plan.outputs;
    tensors.push_back({plan.name + ".weight_ih" + suffix, {gates, plan.inputs}, weights[0]});
    tensors.push_back({plan.name + ".weight_hh" + suffix, {gates, plan.outputs}, weights[1]});
    tensors.push_back({plan.name + ".bias_ih" + suffix, {gates}, weights[2]});
    tensors.push_back({plan.name + ".bias_hh" + suffix, {gates}, weights[3]});
  }
}

Layer make_layer(const LayerPlan& plan) {
  const auto& weights = plan.weights;
  if (plan.kind == "linear") return Linear{{plan.inputs, plan.outputs, weights[0], weights[1]}};
  if (plan.kind == "layer_norm") return LayerNorm{{weights[0], weights[1]}};
  if (!has_memory(plan)) return Activation{plan.kind, plan.inputs};
  const RecurrentWeights recurrent{plan.inputs, plan.outputs, weights[0], weights[1], weights[2], weights[3]};
  if (plan.kind == "lstm") return Lstm{recurrent};
  return Gru{recurrent};
}

// The layers between so many inputs and outputs, in the order in which a decision passes them.
class StackPlan {
 public:
  explicit StackPlan(std::size_t inputs) : size_{inputs} {}

  void add(const std::string& kind, const std::string& name, std::size_t outputs) {
    layers_.push_back({.kind = kind, .name = name, .inputs = size_, .outputs = outputs});
    size_ = outputs;
  }
  void add(const std::string& kind, const std::string& name) { add(kind, name, size_); }
  [[nodiscard]] std::size_t size() const { return size_; }

  std::unique_ptr<PolicyNetwork> read(const Safetensors& file) {
    std::vector<Tensor> tensors;
    for (LayerPlan& layer : layers_) add_tensors(layer, "_l0", tensors);
    read_tensors(file, tensors);
    std::vector<Layer> made;
    for (const LayerPlan& layer : layers_) made.push_back(make_layer(layer));
    return std::make_unique<StackNetwork>(std::move(made));
  }

 private:
  std::vector<LayerPlan> layers_{};
  std::size_t size_;
};

// Indigo's network: one LSTM layer and a linear head.
void plan_lstm(StackPlan& plan, const json& architecture, std::size_t outputs) {
  plan.add("lstm", "lstm", size(architecture["hidden"], "hidden", kMaxHidden));
  plan.add("linear", "linear", outputs);
}

// Aurora's network: linear layers with tanh between them, without memory.
void plan_mlp(StackPlan& plan, const json& architecture, std::size_t outputs) {
  const json& hidden = architecture["hidden"];
  if (!hidden.is_array() || hidden.size() > kMaxLayers) {
    refuse("hidden is " + excerpt(hidden) + ", should be the sizes of up to " + std::to_string(kMaxLayers) +
           " layers");
  }
  for (std::size_t i = 0; i < hidden.size(); ++i) {
    plan.add("linear", "layers." + std::to_string(i), size(hidden[i], "hidden", kMaxHidden));
    plan.add("tanh", "");
  }
  plan.add("linear", "layers." + std::to_string(hidden.size()), outputs);
}

// Whatever layers the file names.
void plan_stack(StackPlan& plan, const json& architecture, std::size_t outputs) {
  const json& layers = architecture["layers"];
  if (!layers.is_array() || layers.empty() || layers.size() > kMaxStack) {
    refuse("layers is " + excerpt(layers) + ", should be a list of 1 to " + std::to_string(kMaxStack));
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string name = "layers." + std::to_string(i);
    const bool sized = layers[i].is_object() && layers[i].contains("units");
    if (sized) {
      check_keys(layers[i], name, {"kind", "units"});
    } else {
      check_keys(layers[i], name, {"kind"});
    }
    const std::string kind = text(layers[i], "kind");
    const bool needs_units = kind == "linear" || kind == "lstm" || kind == "gru";
    if (sized != needs_units)
      refuse(name + " is " + excerpt(layers[i]) + ": linear, lstm and gru have units, no others");
    if (!needs_units && kind != "layer_norm") Activation{kind, plan.size()};  // throws for an unknown one
    plan.add(kind, name, sized ? size(layers[i]["units"], "units", kMaxHidden) : plan.size());
  }
  if (plan.size() != outputs)
    refuse("the last layer has " + std::to_string(plan.size()) + " outputs, should have " +
           std::to_string(outputs));
}

// An architecture that fits the features and the actions, with its weights.
std::unique_ptr<PolicyNetwork> read_network(const Safetensors& file, const json& architecture,
                                            const PolicySpec& spec) {
  const std::size_t inputs = feature_divisors(spec.feature_set).size();
  const std::size_t outputs = output_count(spec.actions);
  expect("inputs", architecture["inputs"], inputs);
  expect("outputs", architecture["outputs"], outputs);
  const std::string kind = text(architecture, "kind");
  StackPlan plan{inputs};
  if (kind == "lstm") {
    plan_lstm(plan, architecture, outputs);
  } else if (kind == "mlp") {
    plan_mlp(plan, architecture, outputs);
  } else if (kind == "stack") {
    plan_stack(plan, architecture, outputs);
  } else {
    refuse("architecture kind is " + excerpt(kind) + ", should be \"lstm\", \"mlp\" or \"stack\"");
  }
  return plan.read(file);
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
