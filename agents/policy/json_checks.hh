// What a policy file's JSON must be; each check throws std::runtime_error, one line with the right form.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace ccgym {

[[noreturn]] void refuse(const std::string& what);

// What a JSON text holds, discarded if it is none; refuses what is nested deeper than any policy's metadata.
nlohmann::json parse_json(std::string_view text);

// The beginning of a value's text, however large it is.
std::string excerpt(const nlohmann::json& value);
// The same of a name, in single quotes.
std::string quoted(std::string_view name);

void expect(const std::string& what, const nlohmann::json& value, const nlohmann::json& right);

// `object` has exactly these keys.
void check_keys(const nlohmann::json& object, const std::string& where,
                std::initializer_list<std::string_view> keys);

std::string text(const nlohmann::json& object, const char* key);

double number(const nlohmann::json& object, const char* key, double lowest, double highest);

// A whole number from 1 to `highest`.
std::size_t size(const nlohmann::json& value, const std::string& what, std::size_t highest);

}  // namespace ccgym
