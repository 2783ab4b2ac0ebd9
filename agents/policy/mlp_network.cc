#include "agents/policy/mlp_network.hh"

#include <algorithm>
#include <stdexcept>

#include "agents/policy/activations.hh"
#include "agents/policy/vectorised.hh"

namespace ccgym {

namespace {

const std::vector<LinearWeights>& checked(const std::vector<LinearWeights>& layers) {
  if (layers.empty()) throw std::invalid_argument("policy network: there should be 1 layer or more");
  std::size_t inputs = layers.front().inputs;
  for (const LinearWeights& layer : layers) {
    const bool fits = layer.inputs == inputs && inputs > 0 && layer.outputs > 0 &&
                      layer.weight.size() == layer.inputs * layer.outputs &&
                      layer.bias.size() == layer.outputs;
    if (!fits) throw std::invalid_argument("policy network: the shapes of its layers disagree");
    inputs = layer.outputs;
  }
  return layers;
}

CCGYM_VECTORISED void activate(double* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) values[i] = hyperbolic_tangent(values[i]);
}

}  // namespace

MlpNetwork::MlpNetwork(const std::vector<LinearWeights>& layers)
    : inputs_{checked(layers).front().inputs}, outputs_(layers.back().outputs) {
  activations_.emplace_back(inputs_);
  for (const LinearWeights& layer : layers) {
    layers_.emplace_back(layer.weight, layer.bias);
    activations_.emplace_back(layer.outputs);
  }
}

std::span<const float> MlpNetwork::step(std::span<const float> observation) {
  check_observation(observation);
  std::ranges::copy(observation, activations_.front().begin());
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    layers_[i].apply(activations_[i], activations_[i + 1]);
    if (i + 1 < layers_.size()) activate(activations_[i + 1].data(), activations_[i + 1].size());
  }
  std::ranges::transform(activations_.back(), outputs_.begin(),
                         [](double output) { return static_cast<float>(output); });
  return outputs_;
}

}  // namespace ccgym
