#include "tunnel/secret.hh"

#include <fcntl.h>
#include <sodium.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "deploy/endpoint/file_descriptor.hh"
#include "deploy/endpoint/secret_file.hh"

namespace ccgym::tunnel {

namespace {

FileDescriptor make_file(const std::filesystem::path& file) {
  const int number = open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (number < 0) refuse_secret_file(file, std::strerror(errno));
  return FileDescriptor{number};
}

}  // namespace

void make_secret(const std::filesystem::path& file) {
  std::array<unsigned char, kKeyBytes> random{};
  randombytes_buf(random.data(), random.size());
  std::array<char, 2 * kKeyBytes + 1> text{};
  sodium_bin2hex(text.data(), text.size(), random.data(), random.size());
  text.back() = '\n';
  const FileDescriptor made = make_file(file);
  if (write(made.number(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    unlink(file.c_str());
    refuse_secret_file(file, "cannot be written");
  }
}

Key read_secret(const std::filesystem::path& file) {
  const std::vector<std::byte> bytes = read_secret_file(file);
  Key key{};
  crypto_generichash(reinterpret_cast<unsigned char*>(key.data()), key.size(),
                     reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), nullptr, 0);
  return key;
}

}  // namespace ccgym::tunnel
