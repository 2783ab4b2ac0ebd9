// Files that users and strangers name: a pipe may never end, nor a device.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace ccgym {

// All bytes of a regular file of at most `most_bytes`; throws std::runtime_error, without the file's name and
// with `what` it should be, as "a policy file".
std::string read_regular_file(const std::filesystem::path& file, const std::string& what,
                              std::size_t most_bytes);

}  // namespace ccgym
