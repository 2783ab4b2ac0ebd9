#include "tunnel/secret.hh"

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "deploy/endpoint/errors.hh"
#include "deploy/endpoint/file_descriptor.hh"

namespace ccgym::tunnel {

namespace {

constexpr std::size_t kMinFileBytes = 32;
constexpr std::size_t kMaxFileBytes = 4096;

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& why) {
  throw InputError{"secret file " + file.string() + ": " + why};
}

FileDescriptor open_or_refuse(const std::filesystem::path& file, int flags) {
  const int number = open(file.c_str(), flags | O_CLOEXEC | O_NONBLOCK, 0600);
  if (number < 0) refuse(file, std::strerror(errno));
  return FileDescriptor{number};
}

void check_owner_only(const std::filesystem::path& file, int descriptor) {
  struct stat status{};
  check_system_call("fstat", fstat(descriptor, &status));
  if (!S_ISREG(status.st_mode)) refuse(file, "not a regular file");
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    refuse(file, "others may use it; mend it: chmod 600 " + file.string());
}

std::vector<unsigned char> read_bytes(int descriptor) {
  std::vector<unsigned char> bytes(kMaxFileBytes + 1);
  std::size_t used = 0;
  while (used < bytes.size()) {
    const ssize_t count = read(descriptor, &bytes[used], bytes.size() - used);
    if (count <= 0) break;
    used += static_cast<std::size_t>(count);
  }
  bytes.resize(used);
  return bytes;
}

}  // namespace

void make_secret(const std::filesystem::path& file) {
  std::array<unsigned char, kKeyBytes> random{};
  randombytes_buf(random.data(), random.size());
  std::array<char, 2 * kKeyBytes + 1> text{};
  sodium_bin2hex(text.data(), text.size(), random.data(), random.size());
  text.back() = '\n';
  const FileDescriptor made = open_or_refuse(file, O_WRONLY | O_CREAT | O_EXCL);
  if (write(made.number(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    unlink(file.c_str());
    refuse(file, "cannot be written");
  }
}

Key read_secret(const std::filesystem::path& file) {
  const FileDescriptor opened = open_or_refuse(file, O_RDONLY);
  check_owner_only(file, opened.number());
  const std::vector<unsigned char> bytes = read_bytes(opened.number());
  if (bytes.size() < kMinFileBytes || bytes.size() > kMaxFileBytes)
    refuse(file, "not 32 to 4096 bytes long; make one: ccgym-tunnel secret FILE");
  Key key{};
  crypto_generichash(reinterpret_cast<unsigned char*>(key.data()), key.size(), bytes.data(), bytes.size(),
                     nullptr, 0);
  return key;
}

}  // namespace ccgym::tunnel
