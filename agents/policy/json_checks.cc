#include "agents/policy/json_checks.hh"

#include <algorithm>
#include <stdexcept>

namespace ccgym {

using nlohmann::json;

void refuse(const std::string& what) { throw std::runtime_error(what); }

json parse_json(std::string_view text) {
  constexpr int kMaxDepth = 16;
  const auto watch = [](int depth, json::parse_event_t, const json&) {
    if (depth > kMaxDepth) refuse("its JSON is nested deeper than " + std::to_string(kMaxDepth));
    return true;
  };
  return json::parse(text, watch, /*allow_exceptions=*/false);
}

std::string excerpt(const json& value) {
  constexpr std::size_t kMostCharacters = 60;
  std::string text = value.dump();
  if (text.size() <= kMostCharacters) return text;
  std::size_t end = kMostCharacters;
  while ((static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // a character is kept whole
  return text.substr(0, end) + "...";
}

void expect(const std::string& what, const json& value, const json& right) {
  if (value != right) refuse(what + " is " + excerpt(value) + ", should be " + right.dump());
}

void check_keys(const json& object, const std::string& where, std::initializer_list<std::string_view> keys) {
  std::string known;
  for (const std::string_view key : keys) known += (known.empty() ? "" : ", ") + std::string{key};
  if (!object.is_object()) refuse(where + " should be an object with " + known);
  for (const std::string_view key : keys) {
    if (!object.contains(key)) refuse(where + " has no '" + std::string{key} + "', should have " + known);
  }
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::find(keys, key) == keys.end())
      refuse(where + " has " + excerpt(key) + ", known are " + known);
  }
}

std::string text(const json& object, const char* key) {
  const json& value = object[key];
  if (!value.is_string()) refuse(std::string{key} + " is " + excerpt(value) + ", should be a name");
  return value.get<std::string>();
}

double number(const json& object, const char* key, double lowest, double highest) {
  const json& value = object[key];
  const bool in_range = value.is_number() && value >= lowest && value <= highest;
  if (!in_range) {
    refuse(std::string{key} + " is " + excerpt(value) + ", should be a number from " + json(lowest).dump() +
           " to " + json(highest).dump());
  }
  return value.get<double>();
}

std::size_t size(const json& value, const std::string& what, std::size_t highest) {
  if (!value.is_number_unsigned() || value < 1 || value > highest) {
    refuse(what + " is " + excerpt(value) + ", should be a whole number from 1 to " +
           std::to_string(highest));
  }
  return value.get<std::size_t>();
}

}  // namespace ccgym
