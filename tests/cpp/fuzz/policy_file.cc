#include "agents/policy/policy_file.hh"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/cpp/fuzz/parser_checks.hh"

namespace ccgym::fuzz {

namespace {

constexpr std::size_t kMaxMessageBytes = 1000;

// A file with these bytes, which the destructor removes.
class Written {
 public:
  explicit Written(std::span<const std::byte> bytes) {
    std::ofstream{path_, std::ios::binary}.write(reinterpret_cast<const char*>(bytes.data()),
                                                 static_cast<std::streamsize>(bytes.size()));
  }
  ~Written() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_{std::filesystem::temp_directory_path() /
                              ("ccgym-fuzz-" + std::to_string(getpid()))};
};

}  // namespace

void check_policy_file(std::span<const std::byte> bytes) {
  const Written file{bytes};
  try {
    const PolicyFile policy = load_policy(file.path());
    const std::vector<float> observation(policy.network->inputs(), 0.5F);
    if (policy.network->step(observation).size() != policy.network->outputs()) std::abort();
  } catch (const std::runtime_error& error) {
    const std::string told = error.what();
    if (told.size() > kMaxMessageBytes || told.find('\n') != std::string::npos) std::abort();
  }
}

}  // namespace ccgym::fuzz
