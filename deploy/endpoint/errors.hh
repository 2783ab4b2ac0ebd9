// The errors of an endpoint program and its exit codes: 2 for bad input, 1 for all other failures.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace ccgym {

// Bad input of the user. The message is one line, which says what is wrong and what would be right. Exit
// code 2.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Returns `result`. If it is negative, the system call has failed: throws std::system_error with errno and
// `attempt`, what was attempted.
inline int check_system_call(const char* attempt, int result) {
  if (result < 0) throw std::system_error{errno, std::generic_category(), attempt};
  return result;
}

// `message` as one line of limited length: control characters become '?', and the middle of a message above
// 280 bytes becomes "...".
inline std::string one_line(std::string_view message) {
  constexpr std::size_t kMaxBytes = 280;
  const auto within_character = [&](std::size_t at) { return (message[at] & '\xc0') == '\x80'; };  // of UTF-8
  std::string line{message};
  if (message.size() > kMaxBytes) {
    std::size_t head = kMaxBytes / 2;
    std::size_t tail = message.size() - kMaxBytes / 2 + 3;
    while (head > 0 && within_character(head)) --head;
    while (tail < message.size() && within_character(tail)) ++tail;
    line.replace(head, tail - head, "...");
  }
  std::ranges::replace_if(line, [](unsigned char letter) { return letter < ' ' || letter == '\x7f'; }, '?');
  return line;
}

// Runs `body` and returns its exit code. If it throws, prints one line on stderr, and returns 2 for an
// InputError, 1 for any other std::exception.
template <class Body>
int run_program(std::string_view name, Body body) {
  try {
    return body();
  } catch (const InputError& error) {
    std::cerr << name << ": " + one_line(error.what()) + "\n";
    return 2;
  } catch (const std::exception& error) {
    std::cerr << name << ": " + one_line(error.what()) + "\n";
    return 1;
  }
}

}  // namespace ccgym
