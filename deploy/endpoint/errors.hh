// The two ways an endpoint program fails, and the exit codes they become.
#pragma once

#include <cerrno>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace ccgym {

// A mistake of the user, said in one line: what is wrong and what would be right. Exit code 2.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws std::system_error naming the attempt when a system call reports failure by -1.
inline int check_system_call(const char* attempt, int result) {
  if (result < 0) throw std::system_error{errno, std::generic_category(), attempt};
  return result;
}

// Runs a program's body: its exit code, or one line on stderr and 2 for bad input, 1 for any failure.
template <class Body>
int run_program(std::string_view name, Body body) {
  try {
    return body();
  } catch (const InputError& error) {
    std::cerr << name << ": " + std::string{error.what()} + "\n";
    return 2;
  } catch (const std::exception& error) {
    std::cerr << name << ": " + std::string{error.what()} + "\n";
    return 1;
  }
}

}  // namespace ccgym
