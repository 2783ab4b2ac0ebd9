#include "agents/policy/network_file.hh"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "agents/policy/json_checks.hh"
#include "agents/policy/stack_network.hh"

namespace ccgym {

namespace {

using nlohmann::json;

constexpr std::size_t kMaxHidden = 4096;  // units of a layer
constexpr std::size_t kMaxLayers = 16;    // hidden layers of the architecture mlp
constexpr std::size_t kMaxStack = 64;     // layers of the architecture stack

// A layer of the network, with the place for its weights.
struct LayerPlan {
  std::string kind;
  std::string name;  // the names of its tensors begin with it
  std::size_t inputs;
  std::size_t outputs;
  std::array<std::vector<float>, 4> weights{};
};

bool has_memory(const LayerPlan& plan) { return plan.kind == "lstm" || plan.kind == "gru"; }

// The tensors of a layer, under the names that PyTorch gives them.
void add_tensors(LayerPlan& plan, std::vector<Tensor>& tensors) {
  auto& weights = plan.weights;
  if (plan.kind == "linear") {
    tensors.push_back({plan.name + ".weight", {plan.outputs, plan.inputs}, weights[0]});
    tensors.push_back({plan.name + ".bias", {plan.outputs}, weights[1]});
  } else if (plan.kind == "layer_norm") {
    tensors.push_back({plan.name + ".weight", {plan.inputs}, weights[0]});
    tensors.push_back({plan.name + ".bias", {plan.inputs}, weights[1]});
  } else if (has_memory(plan)) {
    const std::size_t gates = (plan.kind == "lstm" ? 4 : 3) * plan.outputs;
    tensors.push_back({plan.name + ".weight_ih_l0", {gates, plan.inputs}, weights[0]});
    tensors.push_back({plan.name + ".weight_hh_l0", {gates, plan.outputs}, weights[1]});
    tensors.push_back({plan.name + ".bias_ih_l0", {gates}, weights[2]});
    tensors.push_back({plan.name + ".bias_hh_l0", {gates}, weights[3]});
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

// The layers of the network from the observation on; each has as many inputs as the one before has outputs.
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
    for (LayerPlan& layer : layers_) add_tensors(layer, tensors);
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
  plan.add("lstm", "lstm", checked_size(architecture["hidden"], "hidden", kMaxHidden));
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
    plan.add("linear", "layers." + std::to_string(i), checked_size(hidden[i], "hidden", kMaxHidden));
    plan.add("tanh", "");
  }
  plan.add("linear", "layers." + std::to_string(hidden.size()), outputs);
}

void plan_layer(StackPlan& plan, const json& layer, const std::string& name) {
  const bool has_units = layer.is_object() && layer.contains("units");
  if (has_units) {
    check_keys(layer, name, {"kind", "units"});
  } else {
    check_keys(layer, name, {"kind"});
  }
  const std::string kind = checked_text(layer, "kind");
  const bool needs_units = kind == "linear" || kind == "lstm" || kind == "gru";
  if (has_units != needs_units)
    refuse(name + " is " + excerpt(layer) + ": linear, lstm and gru have units, no others");
  if (!needs_units && kind != "layer_norm") Activation{kind, plan.size()};  // throws for an unknown one
  plan.add(kind, name, has_units ? checked_size(layer["units"], "units", kMaxHidden) : plan.size());
}

// A network of the layers that the file lists.
void plan_stack(StackPlan& plan, const json& architecture, std::size_t outputs) {
  const json& layers = architecture["layers"];
  if (!layers.is_array() || layers.empty() || layers.size() > kMaxStack) {
    refuse("layers is " + excerpt(layers) + ", should be a list of 1 to " + std::to_string(kMaxStack));
  }
  for (std::size_t i = 0; i < layers.size(); ++i) plan_layer(plan, layers[i], "layers." + std::to_string(i));
  if (plan.size() != outputs)
    refuse("the last layer has " + std::to_string(plan.size()) + " outputs, should have " +
           std::to_string(outputs));
}

}  // namespace

std::unique_ptr<PolicyNetwork> read_network(const Safetensors& file, const json& architecture,
                                            const PolicySpec& spec) {
  const std::size_t inputs = feature_divisors(spec.feature_set).size();
  const std::size_t outputs = output_count(spec.actions);
  expect("inputs", architecture["inputs"], inputs);
  expect("outputs", architecture["outputs"], outputs);
  const std::string kind = checked_text(architecture, "kind");
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

}  // namespace ccgym
