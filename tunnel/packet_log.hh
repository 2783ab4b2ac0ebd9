// A packet log that is written by a thread of its own, so that moving packets does not wait for the disk. If
// the program is killed, the last 50 ms are lost; if the disk is full, the log ends with a whole line.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "deploy/endpoint/file_descriptor.hh"
#include "transport/units.hh"

namespace ccgym::tunnel {

// Opens a new, empty file. Throws InputError if it cannot be created.
FileDescriptor create_log_file(const std::string& file);

class PacketLog {
 public:
  static constexpr Time kFlushInterval = std::chrono::milliseconds{50};

  PacketLog(const std::string& name, FileDescriptor file, const std::string& head);
  PacketLog(const PacketLog&) = delete;
  PacketLog& operator=(const PacketLog&) = delete;
  ~PacketLog();  // as finish()

  void record(Time elapsed, uint64_t uid, std::size_t bytes);

  // Hands the lines to the thread if they are due. To be called regularly, and at next_flush().
  void flush_due(Time now);
  [[nodiscard]] Time next_flush() const {  // Time::max(): there is nothing to write
    return collected_.empty() ? Time::max() : last_flush_ + kFlushInterval;
  }

  // Writes all lines and ends the thread. Returns why the log is incomplete, or an empty string if it is
  // complete.
  std::string finish();

 private:
  void hand_over();
  void write_until_finished();
  void write_all(std::string_view lines);
  void give_up(std::string_view lines, std::size_t written, int error);

  std::string name_;
  FileDescriptor file_;
  std::string collected_{};  // lines that have not been handed to the thread
  Time last_flush_{};
  std::mutex mutex_{};
  std::condition_variable handed_over_{};
  std::string pending_{};  // lines for the thread; this and the next two are guarded by mutex_
  bool finished_{false};
  std::string failure_{};
  std::thread writer_;  // last, so that all other members exist when it begins
};

}  // namespace ccgym::tunnel
