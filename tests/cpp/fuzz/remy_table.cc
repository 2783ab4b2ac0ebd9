#include "agents/controllers/remy_table.hh"

#include <stdexcept>
#include <string_view>

#include "tests/cpp/fuzz/parser_checks.hh"

namespace ccgym::fuzz {

void check_remy_table(std::span<const std::byte> bytes) {
  try {
    const RemyTable table =
        parse_remy_table(std::string_view{reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    (void)table.find({1, 2, 3, 4});
  } catch (const std::invalid_argument&) {
    return;
  } catch (const std::runtime_error&) {
    return;
  }
}

}  // namespace ccgym::fuzz
