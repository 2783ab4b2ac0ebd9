#include "agents/policy/regular_file.hh"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace ccgym {

namespace {

[[noreturn]] void refuse(const std::string& why) { throw std::runtime_error(why); }

[[noreturn]] void refuse_unreadable() { refuse(std::string{"cannot be read: "} + std::strerror(errno)); }

class Descriptor {
 public:
  // O_NONBLOCK, because opening a pipe that nobody writes to would block.
  explicit Descriptor(const std::filesystem::path& file)
      : number_(open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    if (number_ < 0) refuse_unreadable();
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(number_); }

  [[nodiscard]] struct stat status() const {
    struct stat status{};
    if (fstat(number_, &status) < 0) refuse_unreadable();
    return status;
  }
  // Returns the number of bytes read; 0 at the end of the file.
  std::size_t read_into(char* place, std::size_t bytes) const {
    const ssize_t count = read(number_, place, bytes);
    if (count < 0) refuse_unreadable();
    return static_cast<std::size_t>(count);
  }

 private:
  int number_;
};

}  // namespace

std::string read_regular_file(const std::filesystem::path& file, const std::string& what,
                              std::size_t most_bytes) {
  const Descriptor descriptor{file};
  const struct stat status = descriptor.status();
  if (S_ISDIR(status.st_mode)) refuse("is a folder, should be " + what);
  if (!S_ISREG(status.st_mode)) refuse("is no regular file, should be " + what);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size > most_bytes) refuse("has more than " + std::to_string(most_bytes >> 20U) + " MB");
  std::string bytes(size, '\0');
  std::size_t used = 0;
  while (used < size) {
    const std::size_t count = descriptor.read_into(&bytes[used], size - used);
    if (count == 0) break;
    used += count;
  }
  bytes.resize(used);
  return bytes;
}

}  // namespace ccgym
