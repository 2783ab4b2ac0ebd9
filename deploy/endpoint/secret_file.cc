#include "deploy/endpoint/secret_file.hh"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "deploy/endpoint/errors.hh"
#include "deploy/endpoint/file_descriptor.hh"

namespace ccgym {

namespace {

constexpr std::size_t kMinFileBytes = 32;
constexpr std::size_t kMaxFileBytes = 4096;

void check_owner_only(const std::filesystem::path& file, int descriptor) {
  struct stat status{};
  check_system_call("fstat", fstat(descriptor, &status));
  if (!S_ISREG(status.st_mode)) refuse_secret_file(file, "not a regular file");
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    refuse_secret_file(file, "others may use it; mend it: chmod 600 " + file.string());
}

std::vector<std::byte> read_bytes(int descriptor) {
  std::vector<std::byte> bytes(kMaxFileBytes + 1);
  std::size_t used = 0;
  while (used < bytes.size()) {
    const ssize_t count = read(descriptor, &bytes[used], bytes.size() - used);
    if (count <= 0) break;
    used += static_cast<std::size_t>(count);
  }
  bytes.resize(used);
  return bytes;
}

uint64_t half(uint64_t which, const std::vector<std::byte>& secret) {
  SipHash hash{SipKey{which, 0}};
  hash.add(secret);
  return hash.finish();
}

}  // namespace

void refuse_secret_file(const std::filesystem::path& file, const std::string& why) {
  throw InputError{"secret file " + file.string() + ": " + why};
}

std::vector<std::byte> read_secret_file(const std::filesystem::path& file) {
  const int number = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (number < 0) refuse_secret_file(file, std::strerror(errno));
  const FileDescriptor opened{number};
  check_owner_only(file, number);
  std::vector<std::byte> bytes = read_bytes(number);
  if (bytes.size() < kMinFileBytes || bytes.size() > kMaxFileBytes)
    refuse_secret_file(file, "not 32 to 4096 bytes long; make one: ccgym-tunnel secret FILE");
  return bytes;
}

SipKey sip_key(const std::vector<std::byte>& secret) { return {half(0, secret), half(1, secret)}; }

std::optional<SipKey> secret_of(const CommandLine& line) {
  const auto file = line.value("--secret");
  return file ? std::optional{sip_key(read_secret_file(*file))} : std::nullopt;
}

}  // namespace ccgym
