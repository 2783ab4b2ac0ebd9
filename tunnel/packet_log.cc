#include "tunnel/packet_log.hh"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "deploy/endpoint/errors.hh"
#include "tunnel/log_format.hh"

namespace ccgym::tunnel {

namespace {

constexpr std::size_t kFlushBytes = 256 << 10;
// The lines of half a minute at line rate, during which the disk may not take any.
constexpr std::size_t kMaxPendingBytes = 256 << 20;

}  // namespace

FileDescriptor create_log_file(const std::string& file) {
  const int number = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (number < 0) throw InputError{"log file " + file + ": " + std::strerror(errno)};
  return FileDescriptor{number};
}

PacketLog::PacketLog(const std::string& name, FileDescriptor file, const std::string& head)
    : name_(name), file_(std::move(file)), collected_(head), writer_([this] { write_until_finished(); }) {
  collected_.reserve(2 * kFlushBytes);
}

PacketLog::~PacketLog() { finish(); }

void PacketLog::record(Time elapsed, uint64_t uid, std::size_t bytes) {
  std::array<char, kMaxLogLineCharacters> line;
  collected_.append(line.data(), write_log_line(line, elapsed, uid, bytes));
}

void PacketLog::flush_due(Time now) {
  if (collected_.size() < kFlushBytes && now < next_flush()) return;
  last_flush_ = now;
  hand_over();
}

void PacketLog::hand_over() {
  const std::lock_guard lock{mutex_};
  if (failure_.empty() && pending_.size() + collected_.size() > kMaxPendingBytes)
    failure_ = name_ + " ends early: the disk is too slow";
  if (!failure_.empty()) {
    collected_.clear();
  } else if (pending_.empty()) {
    pending_.swap(collected_);
  } else {
    pending_ += collected_;
    collected_.clear();
  }
  handed_over_.notify_one();
}

std::string PacketLog::finish() {
  if (writer_.joinable()) {
    hand_over();
    {
      const std::lock_guard lock{mutex_};
      finished_ = true;
    }
    handed_over_.notify_one();
    writer_.join();
  }
  return failure_;
}

void PacketLog::write_until_finished() {
  std::string lines;
  while (true) {
    {
      std::unique_lock lock{mutex_};
      handed_over_.wait(lock, [this] { return finished_ || !pending_.empty(); });
      if (pending_.empty()) return;
      lines.clear();
      lines.swap(pending_);
    }
    write_all(lines);
  }
}

void PacketLog::write_all(std::string_view lines) {
  std::size_t written = 0;
  while (written < lines.size()) {
    const ssize_t count = write(file_.number(), lines.data() + written, lines.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return give_up(lines, written, errno);
    written += static_cast<std::size_t>(count);
  }
}

// Truncates the file to whole lines, so that it can be read.
void PacketLog::give_up(std::string_view lines, std::size_t written, int error) {
  const std::size_t last_newline = lines.substr(0, written).rfind('\n');
  const std::size_t whole_lines = last_newline == std::string_view::npos ? 0 : last_newline + 1;
  const off_t end = lseek(file_.number(), 0, SEEK_CUR);
  const bool cut = end < 0 || ftruncate(file_.number(), end - static_cast<off_t>(written - whole_lines)) == 0;
  const std::lock_guard lock{mutex_};
  failure_ = name_ + " ends early: " + std::strerror(error) + (cut ? "" : ", in the midst of a line");
  pending_.clear();
}

}  // namespace ccgym::tunnel
