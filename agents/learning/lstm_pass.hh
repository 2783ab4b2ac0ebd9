// torch.nn.LSTM (one layer, batch first) forwards and back through time, in float32, with the same bits on
// every machine. Gates in PyTorch's order: input, forget, candidate, output.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ccgym {

struct LstmSizes {
  std::size_t flows;   // N
  std::size_t steps;   // T
  std::size_t inputs;  // I
  std::size_t hidden;  // H
};

struct LstmParameters {
  std::span<const float> weight_ih;  // [4 H, I]
  std::span<const float> weight_hh;  // [4 H, H]
  std::span<const float> bias_ih;    // [4 H], as the other one
  std::span<const float> bias_hh;
};

struct LstmGradient {
  std::vector<float> weight_ih{};
  std::vector<float> weight_hh{};
  std::vector<float> bias{};  // by either of the two, which is the same
};

class LstmPass {
 public:
  // Runs forwards; the sizes have been checked. `observations` [N, T, I], the state `hidden` and `cell` [N,
  // H].
  LstmPass(const LstmSizes& sizes, const LstmParameters& parameters, std::span<const float> observations,
           std::span<const float> hidden, std::span<const float> cell);

  [[nodiscard]] const LstmSizes& sizes() const { return sizes_; }
  [[nodiscard]] const std::vector<float>& outputs() const { return outputs_; }  // [N, T, H]

  // Gradient of a loss whose gradient by the outputs is `by_outputs` [N, T, H]. Call only once.
  LstmGradient gradient(std::span<const float> by_outputs);

 private:
  void run_step(std::size_t step, std::span<const float> bias, std::span<const float> weight);
  void run_step_backward(std::size_t step, std::span<const float> by_outputs, std::vector<float>& by_hidden,
                         std::vector<float>& by_cell);

  LstmSizes sizes_;
  std::size_t width_;               // inputs of the gates: I + H
  std::vector<float> weight_hh_;    // [4 H, H]
  std::vector<float> gate_inputs_;  // [T, N, I + H]: observation and hidden state before each step
  std::vector<float> gates_;        // [T, N, 4 H], activated; after gradient(), that by their arguments
  std::vector<float> cells_;        // [T + 1, N, H]: before each step, and after the last
  std::vector<float> cell_tanhs_;   // [T, N, H]: after each step
  std::vector<float> outputs_;      // [N, T, H]
};

}  // namespace ccgym
