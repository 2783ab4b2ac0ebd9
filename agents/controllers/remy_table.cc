#include "agents/controllers/remy_table.hh"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "agents/controllers/checked.hh"
#include "agents/policy/json_checks.hh"
#include "agents/policy/regular_file.hh"

namespace ccgym {

namespace {

using nlohmann::json;

constexpr std::array<const char*, 4> kSignals{"send_ewma_ms", "rec_ewma_ms", "rtt_ratio", "slow_rec_ewma_ms"};
constexpr std::size_t kMaxFileBytes = 64 << 20;
constexpr double kMaxSignal = 1e9;
constexpr double kMaxMultiple = 1e3;
constexpr double kMaxIncrementPackets = 1e6;
constexpr double kMaxIntersendMs = 1e3;  // the longest gap of the pacer

double number(const json& object, const std::string& where, const char* key) {
  if (!object[key].is_number()) refuse(where + ": " + key + " should be a number");
  return object[key].get<double>();
}

RemyMemory parse_corner(const json& corner, const std::string& where) {
  check_keys(corner, where, {kSignals[0], kSignals[1], kSignals[2], kSignals[3]});
  RemyMemory memory{};
  for (std::size_t i = 0; i < memory.size(); ++i) memory.at(i) = number(corner, where, kSignals.at(i));
  return memory;
}

Whisker parse_whisker(const json& entry, const std::string& where) {
  check_keys(entry, where, {"from", "to", "window_multiple", "window_increment", "intersend_ms"});
  return {.from = parse_corner(entry["from"], where + " from"),
          .to = parse_corner(entry["to"], where + " to"),
          .window_multiple = number(entry, where, "window_multiple"),
          .window_increment = number(entry, where, "window_increment"),
          .intersend_ms = number(entry, where, "intersend_ms")};
}

void check(const Whisker& whisker, const std::string& name) {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    const std::string signal = name + ": " + kSignals.at(i);
    checked(signal + " of 'from'", whisker.from.at(i), 0, kMaxSignal);
    checked(signal + " of 'to'", whisker.to.at(i), 0, kMaxSignal);
    if (whisker.from.at(i) >= whisker.to.at(i))
      throw std::invalid_argument(signal + " should be smaller in 'from' than in 'to'");
  }
  checked(name + ": window_multiple", whisker.window_multiple, 0, kMaxMultiple);
  checked(name + ": window_increment", whisker.window_increment, -kMaxIncrementPackets, kMaxIncrementPackets);
  checked(name + ": intersend_ms", whisker.intersend_ms, 0, kMaxIntersendMs);
}

std::string name_of(std::size_t whisker) { return "whisker " + std::to_string(whisker + 1); }

double squared_distance(const Whisker& whisker, const RemyMemory& memory) {
  double sum = 0;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const double outside = memory[i] - std::clamp(memory[i], whisker.from[i], whisker.to[i]);
    sum += outside * outside;
  }
  return sum;
}

bool contains(const Whisker& whisker, const RemyMemory& memory) {
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (memory[i] < whisker.from[i] || memory[i] >= whisker.to[i]) return false;
  }
  return true;
}

}  // namespace

RemyTable::RemyTable(std::vector<Whisker> whiskers) : whiskers_{std::move(whiskers)} {
  if (whiskers_.empty()) throw std::invalid_argument("a RemyCC table has at least one whisker");
  for (std::size_t i = 0; i < whiskers_.size(); ++i) check(whiskers_[i], name_of(i));
}

const Whisker& RemyTable::find(const RemyMemory& memory) const {
  const auto found =
      std::ranges::find_if(whiskers_, [&](const Whisker& whisker) { return contains(whisker, memory); });
  if (found != whiskers_.end()) return *found;
  return *std::ranges::min_element(whiskers_, {},
                                   [&](const Whisker& whisker) { return squared_distance(whisker, memory); });
}

RemyTable parse_remy_table(std::string_view text) {
  const json table = parse_json(text);
  if (table.is_discarded()) refuse("is no JSON, should be a RemyCC table");
  check_keys(table, "the table", {"format", "version", "whiskers"});
  if (table["format"] != "ccgym-remy" || table["version"] != 1)
    refuse("format and version should be \"ccgym-remy\" and 1");
  const json& entries = table["whiskers"];
  if (!entries.is_array()) refuse("whiskers should be a list");
  std::vector<Whisker> whiskers;
  for (const json& entry : entries) whiskers.push_back(parse_whisker(entry, name_of(whiskers.size())));
  return RemyTable{std::move(whiskers)};
}

RemyTable load_remy_table(const std::filesystem::path& file) {
  try {
    return parse_remy_table(read_regular_file(file, "a RemyCC table", kMaxFileBytes));
  } catch (const std::exception& error) {
    refuse(file.string() + ": " + error.what());
  }
}

}  // namespace ccgym
