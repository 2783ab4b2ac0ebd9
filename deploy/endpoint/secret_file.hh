// A secret that both ends share: a file that only its owner can read.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "deploy/endpoint/command_line.hh"
#include "transport/siphash.hh"

namespace ccgym {

// Throws InputError: "secret file FILE: why".
[[noreturn]] void refuse_secret_file(const std::filesystem::path& file, const std::string& why);

// The content of the file, 32 to 4096 bytes. Throws InputError if the file cannot be read, is no regular
// file, is too short or too long, or if others than its owner may access it.
std::vector<std::byte> read_secret_file(const std::filesystem::path& file);

// The key derived from those bytes.
SipKey sip_key(const std::vector<std::byte>& secret);

// The key of the file that the option --secret names; absent without the option. Throws InputError as
// read_secret_file.
std::optional<SipKey> secret_of(const CommandLine& line);

}  // namespace ccgym
