// The command line of an endpoint program: positional arguments, options with a value, and switches.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transport/units.hh"

namespace ccgym {

struct OptionNames {
  std::set<std::string_view> with_value;  // "--seconds 3" or "--seconds=3"
  std::set<std::string_view> switches;
};

class CommandLine {
 public:
  // Throws InputError for an unknown or repeated option and for a missing value.
  CommandLine(std::span<char* const> arguments, const OptionNames& known);

  [[nodiscard]] const std::vector<std::string>& positional() const { return positional_; }
  [[nodiscard]] std::optional<std::string> value(std::string_view option) const;
  [[nodiscard]] bool has(std::string_view name) const { return given_.contains(name); }

 private:
  void keep(std::string_view option, std::string value);

  std::vector<std::string> positional_{};
  std::map<std::string, std::string, std::less<>> given_{};
};

// Parse a port from 1 to 65535, a duration in seconds (above 0, up to 1e9) and a whole number from 1 to 1e15.
// They throw InputError for anything else.
uint16_t parse_port(std::string_view text);
Time parse_seconds(std::string_view option, std::string_view text);
int64_t parse_count(std::string_view option, std::string_view text);

}  // namespace ccgym
