// Reads files that users name, regular ones only: a pipe or a device may never end.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace ccgym {

// All bytes of a regular file of at most `most_bytes`. Throws std::runtime_error, without the file's name;
// `what` is what the file should be, as "a policy file".
std::string read_regular_file(const std::filesystem::path& file, const std::string& what,
                              std::size_t most_bytes);

}  // namespace ccgym
