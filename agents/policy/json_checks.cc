#include "agents/policy/json_checks.hh"

#include <algorithm>
#include <stdexcept>

#include "transport/name_list.hh"

namespace ccgym {

using nlohmann::json;

void refuse(const std::string& what) { throw std::runtime_error(what); }

json parse_json(std::string_view text) {
  constexpr int kMaxDepth = 16;
  const auto watch = [](int depth, json::parse_event_t, const json&) {
    if (depth > kMaxDepth) refuse("its JSON is nested deeper than " + std::to_string(kMaxDepth));
    return true;
  };
  // The library takes a NUL for the end of the text, and skips a byte order mark. Other programs that read
  // the format do neither, so that both are refused.
  if (text.find('\0') != std::string_view::npos || text.starts_with("\xEF\xBB\xBF"))
    return json::value_t::discarded;
  return json::parse(text, watch, /*allow_exceptions=*/false);
}

namespace {

// What is not ASCII is escaped, and so are DEL and the control characters of Unicode.
std::string printable(const json& value) {
  return value.dump(-1, ' ', /*ensure_ascii=*/true, json::error_handler_t::replace);
}

std::string shortened(const std::string& text) {
  constexpr std::size_t kMaxCharacters = 60;
  return text.size() <= kMaxCharacters ? text : text.substr(0, kMaxCharacters) + "...";
}

}  // namespace

std::string excerpt(const json& value) { return shortened(printable(value)); }

std::string quoted(std::string_view name) {
  const std::string text = printable(name);
  const std::string inside = shortened(text.substr(1, text.size() - 2));
  std::string in_quotes{'\''};
  in_quotes.append(inside).push_back('\'');
  return in_quotes;
}

void expect(const std::string& what, const json& value, const json& right) {
  if (value != right) refuse(what + " is " + excerpt(value) + ", should be " + right.dump());
}

void check_keys(const json& object, const std::string& where, std::initializer_list<std::string_view> keys) {
  const std::string known = name_list(keys);
  if (!object.is_object()) refuse(where + " should be an object with " + known);
  for (const std::string_view key : keys) {
    if (!object.contains(key)) refuse(where + " has no '" + std::string{key} + "', should have " + known);
  }
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::find(keys, key) == keys.end())
      refuse(where + " has " + excerpt(key) + ", known are " + known);
  }
}

std::string checked_text(const json& object, const char* key) {
  const json& value = object[key];
  if (!value.is_string()) refuse(std::string{key} + " is " + excerpt(value) + ", should be a name");
  return value.get<std::string>();
}

double checked_number(const json& object, const char* key, double lowest, double highest) {
  const json& value = object[key];
  const bool in_range = value.is_number() && value >= lowest && value <= highest;
  if (!in_range) {
    refuse(std::string{key} + " is " + excerpt(value) + ", should be a number from " + json(lowest).dump() +
           " to " + json(highest).dump());
  }
  return value.get<double>();
}

std::size_t checked_size(const json& value, const std::string& what, std::size_t highest) {
  if (!value.is_number_unsigned() || value < 1 || value > highest) {
    refuse(what + " is " + excerpt(value) + ", should be a whole number from 1 to " +
           std::to_string(highest));
  }
  return value.get<std::size_t>();
}

}  // namespace ccgym
