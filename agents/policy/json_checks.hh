// Checks of the JSON in a file. Each throws std::runtime_error, with one line that says what is wrong and
// what would be right.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace ccgym {

[[noreturn]] void refuse(const std::string& what);

// Parses a JSON text; `discarded` if it is invalid. Refuses text nested deeper than any policy's metadata.
nlohmann::json parse_json(std::string_view text);

// The beginning of a value's text, for messages.
std::string excerpt(const nlohmann::json& value);
// The same for a name, in single quotes.
std::string quoted(std::string_view name);

// Checks that `value`, which messages call `what`, is `right`.
void expect(const std::string& what, const nlohmann::json& value, const nlohmann::json& right);

// Checks that `object` has exactly these keys.
void check_keys(const nlohmann::json& object, const std::string& where,
                std::initializer_list<std::string_view> keys);

// The text, or the number within [lowest, highest], that `object` has for this key.
std::string checked_text(const nlohmann::json& object, const char* key);
double checked_number(const nlohmann::json& object, const char* key, double lowest, double highest);

// Returns a whole number from 1 to `highest`.
std::size_t checked_size(const nlohmann::json& value, const std::string& what, std::size_t highest);

}  // namespace ccgym
