// The secret of a session: a file that only its owner can read, with the same content at both ends.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>

namespace ccgym::tunnel {

inline constexpr std::size_t kKeyBytes = 32;
using Key = std::array<std::byte, kKeyBytes>;

// Writes a new secret of 256 random bits, as 64 hexadecimal digits, mode 0600. Throws InputError when
// the file exists or cannot be made.
void make_secret(const std::filesystem::path& file);

// The key derived from the file's bytes, 32 to 4096 of any kind. Throws InputError if the file cannot be
// read, is no regular file, is too short or too long, or others than its owner may read or write it.
Key read_secret(const std::filesystem::path& file);

}  // namespace ccgym::tunnel
