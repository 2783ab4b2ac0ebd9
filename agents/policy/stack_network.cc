#include "agents/policy/stack_network.hh"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <variant>

namespace ccgym {

StackNetwork::StackNetwork(std::vector<Layer> layers) : layers_{std::move(layers)} {
  if (layers_.empty()) throw std::invalid_argument("policy network: there should be 1 layer or more");
  values_.emplace_back(std::visit([](const auto& layer) { return layer.inputs(); }, layers_.front()));
  for (const Layer& layer : layers_) {
    const auto [inputs, outputs] =
        std::visit([](const auto& one) { return std::pair{one.inputs(), one.outputs()}; }, layer);
    if (inputs != values_.back().size())
      throw std::invalid_argument("policy network: the shapes of its layers disagree");
    values_.emplace_back(outputs);
  }
  outputs_.resize(values_.back().size());
}

std::vector<double> StackNetwork::state() const {
  std::vector<double> state;
  for (const Layer& layer : layers_) std::visit([&](const auto& one) { one.add_state(state); }, layer);
  return state;
}

void StackNetwork::reset() {
  for (Layer& layer : layers_) std::visit([](auto& one) { one.reset(); }, layer);
}

std::span<const float> StackNetwork::step(std::span<const float> observation) {
  check_observation(observation);
  std::ranges::copy(observation, values_.front().begin());
  for (std::size_t i = 0; i < layers_.size(); ++i)
    std::visit([&](auto& layer) { layer.apply(values_[i], values_[i + 1]); }, layers_[i]);
  std::ranges::transform(values_.back(), outputs_.begin(),
                         [](double output) { return static_cast<float>(output); });
  return outputs_;
}

}  // namespace ccgym
