#include "deploy/endpoint/command_line.hh"

#include <gtest/gtest.h>

#include "deploy/endpoint/address.hh"
#include "deploy/endpoint/errors.hh"

namespace ccgym {
namespace {

CommandLine line_of(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  return CommandLine{arguments, {.with_value = {"--seconds"}, .switches = {"--once"}}};
}

TEST(CommandLine, TakesPositionalsOptionsAndSwitches) {
  const CommandLine line = line_of({"10.0.0.1", "--seconds", "3", "5000", "--once"});
  EXPECT_EQ(line.positional(), (std::vector<std::string>{"10.0.0.1", "5000"}));
  EXPECT_EQ(line.value("--seconds"), "3");
  EXPECT_TRUE(line.has("--once"));
  EXPECT_EQ(line_of({"--seconds=4"}).value("--seconds"), "4");
  EXPECT_FALSE(line_of({}).value("--seconds"));
}

TEST(CommandLine, RefusesUnknownRepeatedAndIncompleteOptions) {
  EXPECT_THROW(line_of({"--sconds", "3"}), InputError);
  EXPECT_THROW(line_of({"--seconds"}), InputError);
  EXPECT_THROW(line_of({"--seconds", "3", "--seconds", "4"}), InputError);
  EXPECT_THROW(line_of({"--once=yes"}), InputError);
}

TEST(CommandLine, RefusesWhatIsNoPort) {
  EXPECT_EQ(parse_port("65535"), 65535);
  for (const auto* text : {"", "0", "65536", "-1", "80x", "http", "99999999999999"})
    EXPECT_THROW(parse_port(text), InputError) << text;
}

TEST(CommandLine, RefusesWhatIsNoDuration) {
  EXPECT_EQ(parse_seconds("--seconds", "0.5"), Time{std::chrono::milliseconds{500}});
  for (const auto* text : {"", "0", "-1", "3s", "nan", "inf", "1e300"})
    EXPECT_THROW(parse_seconds("--seconds", text), InputError) << text;
}

TEST(Address, TakesNumericAddressesAndLocalhostOnly) {
  EXPECT_EQ((Address{"localhost", 1}.to_string()), "127.0.0.1:1");
  EXPECT_EQ((Address{"fd00::1", 5000}.to_string()), "[fd00::1]:5000");
  EXPECT_TRUE((Address{"::1", 1}.is_ipv6()));
  for (const auto* host : {"", "example.org", "1.2.3", "1.2.3.4.5", "::g"})
    EXPECT_THROW((Address{host, 1}), InputError) << host;
}

TEST(CommandLine, ACountIsAWholeNumberFromOne) {
  EXPECT_EQ(parse_count("--bytes", "1000000"), 1'000'000);
  for (const char* text : {"0", "-1", "1.5", "1e6", "", "9999999999999999999"})
    EXPECT_THROW(parse_count("--bytes", text), InputError) << text;
}

}  // namespace
}  // namespace ccgym
