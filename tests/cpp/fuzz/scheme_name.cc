#include <stdexcept>
#include <string_view>

#include "agents/controllers/make_controller.hh"
#include "tests/cpp/fuzz/parser_checks.hh"

namespace ccgym::fuzz {

// Schemes that name a file have fuzz targets for its content.
void check_scheme_name(std::span<const std::byte> bytes) {
  const std::string_view name{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  for (const std::string_view of_a_file : {"policy", "remy", "so", "indigo", "aurora", "run", "python"})
    if (name.starts_with(of_a_file)) return;
  try {
    const auto controller = make_controller(name, {});
    (void)controller->limits();
  } catch (const std::invalid_argument&) {
    return;
  } catch (const std::runtime_error&) {
    return;
  }
}

}  // namespace ccgym::fuzz
