// The entry point of libFuzzer, for the check that CCGYM_CHECK names.
#include <cstdint>

#include "tests/cpp/fuzz/parser_checks.hh"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t bytes) {
  ccgym::fuzz::CCGYM_CHECK({reinterpret_cast<const std::byte*>(data), bytes});
  return 0;
}
