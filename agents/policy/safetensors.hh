// The safetensors format: a JSON header with the place of each tensor, then their bytes.
// https://github.com/huggingface/safetensors#format
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ccgym {

struct Safetensors {
  nlohmann::json header;
  std::string_view data;
};

struct Tensor {
  std::string name;
  std::vector<std::size_t> shape;
  std::vector<float>& values;
};

// The sections of a file of these `bytes`, which must outlive them. Throws std::runtime_error.
Safetensors split_safetensors(std::string_view bytes);

// Fills `tensors`, all float32 and finite; the file must hold just these. Throws std::runtime_error.
void read_tensors(const Safetensors& file, const std::vector<Tensor>& tensors);

}  // namespace ccgym
