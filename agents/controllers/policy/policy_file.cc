#include "agents/controllers/policy/policy_file.hh"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>
#include <string>

namespace ccgym {

namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "safetensors holds little-endian numbers");

constexpr int kFormatVersion = 1;
constexpr std::size_t kLengthBytes = 8;
constexpr double kMaxHidden = 4096;
constexpr double kMaxStepMs = 10'000;
constexpr double kMaxCwndPackets = 1e9;

[[noreturn]] void refuse(const std::string& what) { throw std::runtime_error(what); }

std::string read_bytes(const std::filesystem::path& file) {
  if (std::filesystem::is_directory(file)) refuse("is a folder, should be a policy file");
  std::ifstream stream{file, std::ios::binary};
  std::string bytes{std::istreambuf_iterator<char>{stream}, {}};
  if (!stream.is_open()) refuse(std::string{"cannot be read: "} + std::strerror(errno));
  return bytes;
}

struct Sections {
  json header;
  std::string_view data;
};

Sections split(std::string_view bytes) {
  uint64_t length{};
  if (bytes.size() < kLengthBytes) refuse("truncated within the header's length, a policy has 8 bytes of it");
  std::memcpy(&length, bytes.data(), kLengthBytes);
  bytes.remove_prefix(kLengthBytes);
  if (length > bytes.size()) {
    refuse("truncated or no policy: the header should have " + std::to_string(length) + " bytes, only " +
           std::to_string(bytes.size()) + " follow");
  }
  return {json::parse(bytes.substr(0, length), nullptr, /*allow_exceptions=*/false), bytes.substr(length)};
}

// `object` has exactly these keys.
void check_keys(const json& object, const std::string& where, std::initializer_list<std::string_view> keys) {
  std::string known;
  for (const std::string_view key : keys) known += (known.empty() ? "" : ", ") + std::string{key};
  if (!object.is_object()) refuse(where + " should be an object with " + known);
  for (const std::string_view key : keys) {
    if (!object.contains(key)) refuse(where + " has no '" + std::string{key} + "', should have " + known);
  }
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::find(keys, key) == keys.end())
      refuse(where + " has " + json(key).dump() + ", known are " + known);
  }
}

json parse_metadata(const json& header) {
  const auto pointer = json::json_pointer{"/__metadata__/ccgym"};
  if (!header.is_object()) refuse("the header should be a JSON object, as in safetensors");
  if (!header.contains(pointer) || !header[pointer].is_string()) {
    refuse("the header has no metadata 'ccgym', should have one as ccgym's training writes it");
  }
  return json::parse(header[pointer].get<std::string>(), nullptr, /*allow_exceptions=*/false);
}

void expect(const std::string& what, const json& value, const json& right) {
  if (value != right) refuse(what + " is " + value.dump() + ", should be " + right.dump());
}

std::string text(const json& object, const char* key) {
  const json& value = object[key];
  if (!value.is_string()) refuse(std::string{key} + " is " + value.dump() + ", should be a name");
  return value.get<std::string>();
}

double number(const json& object, const char* key, double lowest, double highest) {
  const json& value = object[key];
  const bool in_range = value.is_number() && value >= lowest && value <= highest;
  if (!in_range) {
    refuse(std::string{key} + " is " + value.dump() + ", should be a number from " + json(lowest).dump() +
           " to " + json(highest).dump());
  }
  return value.get<double>();
}

void check_format(const json& metadata) {
  if (metadata.is_object() && metadata.contains("format_version")) {
    expect("format_version", metadata["format_version"], kFormatVersion);
  }
  check_keys(metadata, "metadata 'ccgym'",
             {"format_version", "architecture", "feature_set", "normalisers", "actions", "step_ms",
              "initial_cwnd", "limits", "trained_on", "git"});
  check_keys(metadata["architecture"], "architecture", {"kind", "inputs", "hidden", "outputs"});
  check_keys(metadata["limits"], "limits", {"min_cwnd_packets", "max_cwnd_packets"});
}

void check_normalisers(const json& normalisers, FeatureSet feature_set) {
  const std::span<const float> divisors = feature_divisors(feature_set);
  const auto equal = [](const json& given, float right) {
    return given.is_number() && given.get<float>() == right;
  };
  if (normalisers.is_array() && std::ranges::equal(normalisers, divisors, equal)) return;
  refuse("normalisers are " + normalisers.dump() + ", should be " +
         json(std::vector<float>(divisors.begin(), divisors.end())).dump() + " as in the feature set " +
         std::string{feature_set_name(feature_set)});
}

PolicySpec parse_spec(const json& metadata) {
  const json& limits = metadata["limits"];
  const double min_cwnd_packets = number(limits, "min_cwnd_packets", 1, kMaxCwndPackets);
  const double max_cwnd_packets = number(limits, "max_cwnd_packets", min_cwnd_packets, kMaxCwndPackets);
  const std::chrono::duration<double, std::milli> step{number(metadata, "step_ms", 1, kMaxStepMs)};
  return {.feature_set = feature_set_by_name(text(metadata, "feature_set")),
          .actions = action_set_by_name(text(metadata, "actions")),
          .step = std::chrono::duration_cast<Time>(step),
          .initial_cwnd_packets = number(metadata, "initial_cwnd", min_cwnd_packets, max_cwnd_packets),
          .min_cwnd_packets = min_cwnd_packets,
          .max_cwnd_packets = max_cwnd_packets};
}

// The sizes of an architecture that fits the features and the actions; no weights yet.
LstmWeights parse_architecture(const json& architecture, const PolicySpec& spec) {
  LstmWeights weights;
  weights.inputs = feature_divisors(spec.feature_set).size();
  weights.outputs = action_count(spec.actions);
  expect("architecture kind", architecture["kind"], "lstm");
  expect("inputs", architecture["inputs"], weights.inputs);
  expect("outputs", architecture["outputs"], weights.outputs);
  weights.hidden = static_cast<std::size_t>(number(architecture, "hidden", 1, kMaxHidden));
  if (weights.hidden != architecture["hidden"]) {
    refuse("hidden is " + architecture["hidden"].dump() + ", should be a whole number");
  }
  return weights;
}

struct Tensor {
  std::string name;
  std::vector<std::size_t> shape;
  std::vector<float>& values;
};

std::vector<Tensor> tensors_of(LstmWeights& weights) {
  const std::size_t gates = 4 * weights.hidden;
  return {{"lstm.weight_ih_l0", {gates, weights.inputs}, weights.weight_ih},
          {"lstm.weight_hh_l0", {gates, weights.hidden}, weights.weight_hh},
          {"lstm.bias_ih_l0", {gates}, weights.bias_ih},
          {"lstm.bias_hh_l0", {gates}, weights.bias_hh},
          {"linear.weight", {weights.outputs, weights.hidden}, weights.head_weight},
          {"linear.bias", {weights.outputs}, weights.head_bias}};
}

void check_names(const json& header, const std::vector<Tensor>& tensors) {
  for (const auto& [name, entry] : header.items()) {
    if (name != "__metadata__" && std::ranges::find(tensors, name, &Tensor::name) == tensors.end()) {
      refuse("unknown tensor " + json(name).dump() + ", should be one of an LSTM and a linear layer");
    }
  }
}

// The tensor's bytes, or a refusal when `offsets` are no range of the data.
std::string_view range_of(const json& offsets, const std::string& name, std::string_view data) {
  const auto is_offset = [](const json& offset) { return offset.is_number_unsigned(); };
  if (!offsets.is_array() || offsets.size() != 2 || !std::ranges::all_of(offsets, is_offset)) {
    refuse("tensor " + name + " has data_offsets " + offsets.dump() + ", should be two byte numbers");
  }
  const auto begin = offsets[0].get<std::size_t>();
  const auto end = offsets[1].get<std::size_t>();
  if (begin > end || end > data.size()) {
    refuse("truncated: tensor " + name + " spans bytes " + offsets.dump() + " of the data, which has " +
           std::to_string(data.size()));
  }
  return data.substr(begin, end - begin);
}

void read_tensor(const Sections& sections, const Tensor& tensor) {
  if (!sections.header.contains(tensor.name)) refuse("tensor " + tensor.name + " is missing");
  const json& entry = sections.header[tensor.name];
  check_keys(entry, "tensor " + tensor.name, {"dtype", "shape", "data_offsets"});
  expect("dtype of tensor " + tensor.name, entry["dtype"], "F32");
  expect("shape of tensor " + tensor.name, entry["shape"], tensor.shape);
  const std::string_view bytes = range_of(entry["data_offsets"], tensor.name, sections.data);
  const std::size_t count =
      std::accumulate(tensor.shape.begin(), tensor.shape.end(), std::size_t{1}, std::multiplies{});
  expect("size in bytes of tensor " + tensor.name, bytes.size(), count * sizeof(float));
  tensor.values.resize(count);
  std::memcpy(tensor.values.data(), bytes.data(), bytes.size());
  const auto is_finite = [](float value) { return std::isfinite(value); };
  if (!std::ranges::all_of(tensor.values, is_finite))
    refuse("tensor " + tensor.name + " has an entry that is not finite");
}

PolicyFile parse(const std::string& bytes) {
  const Sections sections = split(bytes);
  const json metadata = parse_metadata(sections.header);
  check_format(metadata);
  const PolicySpec spec = parse_spec(metadata);
  check_normalisers(metadata["normalisers"], spec.feature_set);
  LstmWeights weights = parse_architecture(metadata["architecture"], spec);
  const std::vector<Tensor> tensors = tensors_of(weights);
  check_names(sections.header, tensors);
  std::size_t data_bytes = 0;
  for (const Tensor& tensor : tensors) {
    read_tensor(sections, tensor);
    data_bytes += tensor.values.size() * sizeof(float);
  }
  expect("size in bytes of the data", sections.data.size(), data_bytes);
  return {spec, PolicyNetwork{weights}};
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
