#include "agents/learning/lstm_pass.hh"

#include <algorithm>

#include "agents/learning/matrix_product.hh"
#include "agents/policy/activations.hh"
#include "agents/policy/vectorised.hh"

namespace ccgym {

namespace {

MatrixView row_major(const float* data, std::size_t rows, std::size_t columns) {
  return {data, rows, columns, static_cast<std::ptrdiff_t>(columns), 1};
}

// One flow's step: c' = f c + i g, h = o tanh(c'). `gates` holds the arguments of i, f, g and o before, and
// their values afterwards.
CCGYM_VECTORISED void activate(float* gates, const float* cell, float* next_cell, float* cell_tanh,
                               float* output, std::size_t hidden) {
  const auto sigmoids = [](float* values, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      values[i] = static_cast<float>(sigmoid(static_cast<double>(values[i])));
  };
  const auto tanhs = [hidden](const float* from, float* to) {
    for (std::size_t i = 0; i < hidden; ++i)
      to[i] = static_cast<float>(hyperbolic_tangent(static_cast<double>(from[i])));
  };
  float* const candidate = gates + 2 * hidden;
  float* const open = gates + 3 * hidden;
  sigmoids(gates, 2 * hidden);
  tanhs(candidate, candidate);
  sigmoids(open, hidden);
  for (std::size_t i = 0; i < hidden; ++i)
    next_cell[i] = gates[hidden + i] * cell[i] + gates[i] * candidate[i];
  tanhs(next_cell, cell_tanh);
  for (std::size_t i = 0; i < hidden; ++i) output[i] = open[i] * cell_tanh[i];
}

// The backward step: from the gradients of the output and the cell to those of the gates' arguments, which
// replace the gates, and of the previous cell.
CCGYM_VECTORISED void activate_backward(float* gates, const float* cell, const float* cell_tanh,
                                        const float* by_output, float* by_cell, std::size_t hidden) {
  for (std::size_t i = 0; i < hidden; ++i) {
    const float input = gates[i];
    const float forget = gates[hidden + i];
    const float candidate = gates[2 * hidden + i];
    const float open = gates[3 * hidden + i];
    const float by_next = by_cell[i] + by_output[i] * open * (1 - cell_tanh[i] * cell_tanh[i]);
    gates[i] = by_next * candidate * (input * (1 - input));
    gates[hidden + i] = by_next * cell[i] * (forget * (1 - forget));
    gates[2 * hidden + i] = by_next * input * (1 - candidate * candidate);
    gates[3 * hidden + i] = by_output[i] * cell_tanh[i] * (open * (1 - open));
    by_cell[i] = by_next * forget;
  }
}

// [4 H, I + H]: the weights of the observation, then those of the hidden state.
std::vector<float> side_by_side(const LstmSizes& sizes, const LstmParameters& parameters) {
  std::vector<float> both;
  both.reserve(4 * sizes.hidden * (sizes.inputs + sizes.hidden));
  for (std::size_t gate = 0; gate < 4 * sizes.hidden; ++gate) {
    const auto from_input = parameters.weight_ih.subspan(gate * sizes.inputs, sizes.inputs);
    const auto from_hidden = parameters.weight_hh.subspan(gate * sizes.hidden, sizes.hidden);
    both.insert(both.end(), from_input.begin(), from_input.end());
    both.insert(both.end(), from_hidden.begin(), from_hidden.end());
  }
  return both;
}

std::vector<float> sum_of(std::span<const float> a, std::span<const float> b) {
  std::vector<float> sum(a.size());
  std::ranges::transform(a, b, sum.begin(), std::plus{});
  return sum;
}

}  // namespace

LstmPass::LstmPass(const LstmSizes& sizes, const LstmParameters& parameters,
                   std::span<const float> observations, std::span<const float> hidden,
                   std::span<const float> cell)
    : sizes_{sizes},
      width_{sizes.inputs + sizes.hidden},
      weight_hh_(parameters.weight_hh.begin(), parameters.weight_hh.end()),
      gate_inputs_(sizes.steps * sizes.flows * width_),
      gates_(sizes.steps * sizes.flows * 4 * sizes.hidden),
      cells_((sizes.steps + 1) * sizes.flows * sizes.hidden),
      cell_tanhs_(sizes.steps * sizes.flows * sizes.hidden),
      outputs_(sizes.flows * sizes.steps * sizes.hidden) {
  const std::vector<float> bias = sum_of(parameters.bias_ih, parameters.bias_hh);
  const std::vector<float> weight = side_by_side(sizes, parameters);
  std::ranges::copy(cell, cells_.begin());
  for (std::size_t step = 0; step < sizes.steps; ++step) {
    for (std::size_t flow = 0; flow < sizes.flows; ++flow) {
      float* const row = &gate_inputs_[(step * sizes.flows + flow) * width_];
      const std::size_t place = flow * sizes.steps + step;
      const float* const before =
          step == 0 ? &hidden[flow * sizes.hidden] : &outputs_[(place - 1) * sizes.hidden];
      std::copy_n(&observations[place * sizes.inputs], sizes.inputs, row);
      std::copy_n(before, sizes.hidden, row + sizes.inputs);
    }
    run_step(step, bias, weight);
  }
}

void LstmPass::run_step(std::size_t step, std::span<const float> bias, std::span<const float> weight) {
  const auto [flows, steps, inputs, hidden] = sizes_;
  float* const gates = &gates_[step * flows * 4 * hidden];
  for (std::size_t flow = 0; flow < flows; ++flow) std::ranges::copy(bias, gates + flow * 4 * hidden);
  add_product(row_major(&gate_inputs_[step * flows * width_], flows, width_),
              row_major(weight.data(), 4 * hidden, width_).transposed(), gates, 4 * hidden);
  for (std::size_t flow = 0; flow < flows; ++flow) {
    const std::size_t row = step * flows + flow;
    activate(gates + flow * 4 * hidden, &cells_[row * hidden], &cells_[(row + flows) * hidden],
             &cell_tanhs_[row * hidden], &outputs_[(flow * steps + step) * hidden], hidden);
  }
}

LstmGradient LstmPass::gradient(std::span<const float> by_outputs) {
  const auto [flows, steps, inputs, hidden] = sizes_;
  std::vector<float> by_hidden(flows * hidden);
  std::vector<float> by_cell(flows * hidden);
  for (std::size_t step = steps; step-- > 0;) run_step_backward(step, by_outputs, by_hidden, by_cell);

  const std::size_t rows = steps * flows;
  const MatrixView by_gates = row_major(gates_.data(), rows, 4 * hidden).transposed();
  const auto width = static_cast<std::ptrdiff_t>(width_);
  LstmGradient gradient{std::vector<float>(4 * hidden * inputs), std::vector<float>(4 * hidden * hidden),
                        std::vector<float>(4 * hidden)};
  add_product(by_gates, {gate_inputs_.data(), rows, inputs, width, 1}, gradient.weight_ih.data(), inputs);
  add_product(by_gates, {gate_inputs_.data() + inputs, rows, hidden, width, 1}, gradient.weight_hh.data(),
              hidden);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t gate = 0; gate < 4 * hidden; ++gate)
      gradient.bias[gate] += gates_[row * 4 * hidden + gate];
  return gradient;
}

void LstmPass::run_step_backward(std::size_t step, std::span<const float> by_outputs,
                                 std::vector<float>& by_hidden, std::vector<float>& by_cell) {
  const auto [flows, steps, inputs, hidden] = sizes_;
  for (std::size_t flow = 0; flow < flows; ++flow) {
    const float* const by_output = &by_outputs[(flow * steps + step) * hidden];
    float* const by_state = &by_hidden[flow * hidden];
    for (std::size_t i = 0; i < hidden; ++i) by_state[i] += by_output[i];
    const std::size_t row = step * flows + flow;
    activate_backward(&gates_[row * 4 * hidden], &cells_[row * hidden], &cell_tanhs_[row * hidden], by_state,
                      &by_cell[flow * hidden], hidden);
  }
  std::ranges::fill(by_hidden, 0.0F);
  add_product(row_major(&gates_[step * flows * 4 * hidden], flows, 4 * hidden),
              row_major(weight_hh_.data(), 4 * hidden, hidden), by_hidden.data(), hidden);
}

}  // namespace ccgym
