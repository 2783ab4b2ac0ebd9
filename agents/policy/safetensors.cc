#include "agents/policy/safetensors.hh"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>

#include "agents/policy/json_checks.hh"

namespace ccgym {

namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "safetensors holds little-endian numbers");

constexpr std::size_t kLengthBytes = 8;

void check_names(const json& header, const std::vector<Tensor>& tensors) {
  for (const auto& [name, entry] : header.items()) {
    if (name != "__metadata__" && std::ranges::find(tensors, name, &Tensor::name) == tensors.end()) {
      refuse("unknown tensor " + excerpt(name) + ", which the architecture has not");
    }
  }
}

// The tensor's bytes in the data. Refuses `offsets` that are no range of it.
std::string_view range_of(const json& offsets, const std::string& name, std::string_view data) {
  const auto is_offset = [](const json& offset) { return offset.is_number_unsigned(); };
  if (!offsets.is_array() || offsets.size() != 2 || !std::ranges::all_of(offsets, is_offset)) {
    refuse("tensor " + name + " has data_offsets " + excerpt(offsets) + ", should be two byte numbers");
  }
  const auto begin = offsets[0].get<std::size_t>();
  const auto end = offsets[1].get<std::size_t>();
  if (begin > end || end > data.size()) {
    refuse("truncated: tensor " + name + " spans bytes " + excerpt(offsets) + " of the data, which has " +
           std::to_string(data.size()));
  }
  return data.substr(begin, end - begin);
}

void read_tensor(const Safetensors& file, const Tensor& tensor) {
  if (!file.header.contains(tensor.name)) refuse("tensor " + tensor.name + " is missing");
  const json& entry = file.header[tensor.name];
  check_keys(entry, "tensor " + tensor.name, {"dtype", "shape", "data_offsets"});
  expect("dtype of tensor " + tensor.name, entry["dtype"], "F32");
  expect("shape of tensor " + tensor.name, entry["shape"], tensor.shape);
  const std::string_view bytes = range_of(entry["data_offsets"], tensor.name, file.data);
  const std::size_t count =
      std::accumulate(tensor.shape.begin(), tensor.shape.end(), std::size_t{1}, std::multiplies{});
  expect("size in bytes of tensor " + tensor.name, bytes.size(), count * sizeof(float));
  tensor.values.resize(count);
  std::memcpy(tensor.values.data(), bytes.data(), bytes.size());
  const auto is_finite = [](float value) { return std::isfinite(value); };
  if (!std::ranges::all_of(tensor.values, is_finite))
    refuse("tensor " + tensor.name + " has an entry that is not finite");
}

// The format requires that tensors lie side by side: none overlaps another, and no byte is unused.
void check_places(const Safetensors& file, const std::vector<Tensor>& tensors) {
  std::map<std::size_t, const Tensor*> places;
  for (const Tensor& tensor : tensors) {
    const auto begin = file.header[tensor.name]["data_offsets"][0].get<std::size_t>();
    const auto [place, is_free] = places.emplace(begin, &tensor);
    if (!is_free) refuse("tensors " + place->second->name + " and " + tensor.name + " overlap");
  }
  std::size_t end = 0;
  for (const auto& [begin, tensor] : places) {
    expect("first byte of tensor " + tensor->name, begin, end);
    end += tensor->values.size() * sizeof(float);
  }
  expect("size in bytes of the data", file.data.size(), end);
}

}  // namespace

Safetensors split_safetensors(std::string_view bytes) {
  uint64_t length{};
  if (bytes.size() < kLengthBytes) refuse("truncated within the header's length, a policy has 8 bytes of it");
  std::memcpy(&length, bytes.data(), kLengthBytes);
  bytes.remove_prefix(kLengthBytes);
  if (length > bytes.size()) {
    refuse("truncated or no policy: the header should have " + std::to_string(length) + " bytes, only " +
           std::to_string(bytes.size()) + " follow");
  }
  return {parse_json(bytes.substr(0, length)), bytes.substr(length)};
}

void read_tensors(const Safetensors& file, const std::vector<Tensor>& tensors) {
  check_names(file.header, tensors);
  for (const Tensor& tensor : tensors) read_tensor(file, tensor);
  check_places(file, tensors);
}

}  // namespace ccgym
