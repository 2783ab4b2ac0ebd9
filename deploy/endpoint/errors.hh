// The two ways an endpoint program fails, and the exit codes they become.
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

// A mistake of the user. One line: what is wrong and what would be right. Exit code 2.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws std::system_error naming the attempt when a system call reports failure by -1.
inline int check_system_call(const char* attempt, int result) {
  if (result < 0) throw std::system_error{errno, std::generic_category(), attempt};
  return result;
}

// A message that fits on one line of a terminal, whatever it quotes: control characters become '?', and of a
// long message the beginning and the end are kept.
inline std::string one_line(std::string_view message) {
  constexpr std::size_t kMostBytes = 280;
  const auto within_character = [&](std::size_t at) { return (message[at] & '\xc0') == '\x80'; };  // of UTF-8
  std::string line{message};
  if (message.size() > kMostBytes) {
    std::size_t head = kMostBytes / 2;
    std::size_t tail = message.size() - kMostBytes / 2 + 3;
    while (head > 0 && within_character(head)) --head;
    while (tail < message.size() && within_character(tail)) ++tail;
    line.replace(head, tail - head, "...");
  }
  std::ranges::replace_if(line, [](unsigned char letter) { return letter < ' ' || letter == '\x7f'; }, '?');
  return line;
}

// Runs a program's body: its exit code, or one line on stderr and 2 for bad input, 1 for any failure.
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
