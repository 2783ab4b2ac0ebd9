#include "deploy/endpoint/command_line.hh"

#include <utility>

#include "deploy/endpoint/errors.hh"
#include "transport/parse_number.hh"

namespace ccgym {

namespace {

constexpr double kMaxSeconds = 1e9;                   // 31 years: fits into the nanoseconds of a flow's clock
constexpr int64_t kMaxCount = 1'000'000'000'000'000;  // exact as a double, too

std::string quoted(std::string_view text) { return "'" + std::string{text} + "'"; }

}  // namespace

CommandLine::CommandLine(std::span<char* const> arguments, const OptionNames& known) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    const std::string_view name = argument.substr(0, argument.find('='));
    if (!argument.starts_with("--")) {
      positional_.emplace_back(argument);
    } else if (known.switches.contains(argument)) {
      keep(argument, "");
    } else if (!known.with_value.contains(name)) {
      throw InputError{"unknown option " + std::string{name} + ": --help lists the known ones"};
    } else if (name != argument) {
      keep(name, std::string{argument.substr(name.size() + 1)});
    } else if (i + 1 == arguments.size()) {
      throw InputError{std::string{name} + " needs a value"};
    } else {
      keep(name, arguments[++i]);
    }
  }
}

void CommandLine::keep(std::string_view option, std::string value) {
  if (!given_.emplace(option, std::move(value)).second)
    throw InputError{std::string{option} + " is given twice: once would be right"};
}

std::optional<std::string> CommandLine::value(std::string_view option) const {
  const auto found = given_.find(option);
  return found == given_.end() ? std::nullopt : std::optional{found->second};
}

uint16_t parse_port(std::string_view text) {
  const std::optional<int> port = parse_number<int>(text);
  if (!port || *port < 1 || *port > 65535)
    throw InputError{"port " + quoted(text) + " is not a number from 1 to 65535"};
  return static_cast<uint16_t>(*port);
}

Time parse_seconds(std::string_view option, std::string_view text) {
  const std::optional<double> seconds = parse_number<double>(text);
  if (!seconds || !(*seconds > 0 && *seconds <= kMaxSeconds))
    throw InputError{std::string{option} + " " + quoted(text) + " is not a number above 0"};
  return Time{static_cast<int64_t>(*seconds * 1e9)};
}

int64_t parse_count(std::string_view option, std::string_view text) {
  const std::optional<int64_t> count = parse_number<int64_t>(text);
  if (!count || *count < 1 || *count > kMaxCount)
    throw InputError{std::string{option} + " " + quoted(text) + " is not a whole number from 1 to 1e15"};
  return *count;
}

}  // namespace ccgym
