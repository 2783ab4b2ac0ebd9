#include "agents/policy/policy_file.hh"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/cpp/fuzz/parser_checks.hh"

namespace ccgym::fuzz {

namespace {

constexpr std::size_t kLongestMessage = 1000;

std::filesystem::path written(std::span<const std::byte> bytes) {
  const auto file = std::filesystem::temp_directory_path() / ("ccgym-fuzz-" + std::to_string(getpid()));
  std::ofstream{file, std::ios::binary}.write(reinterpret_cast<const char*>(bytes.data()),
                                              static_cast<std::streamsize>(bytes.size()));
  return file;
}

}  // namespace

void check_policy_file(std::span<const std::byte> bytes) {
  const auto file = written(bytes);
  try {
    const PolicyFile policy = load_policy(file);
    const std::vector<float> observation(policy.network->inputs(), 0.5F);
    if (policy.network->step(observation).size() != policy.network->outputs()) std::abort();
  } catch (const std::runtime_error& error) {
    const std::string told = error.what();
    if (told.size() > kLongestMessage || told.find('\n') != std::string::npos) std::abort();
  }
}

}  // namespace ccgym::fuzz
