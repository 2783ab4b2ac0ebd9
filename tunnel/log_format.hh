// The lines of a packet log, in pantheon-tunnel's format: a head with the wall clock, in ms, at time 0 of the
// log, then a line "TIME_MS - UID - BYTES" for each packet.
#pragma once

#include <array>
#include <charconv>
#include <span>
#include <string>
#include <string_view>

#include "transport/units.hh"

namespace ccgym::tunnel {

inline constexpr std::size_t kMaxNumberCharacters = 20;  // characters of any 64-bit integer, sign included
inline constexpr std::size_t kMaxTimeCharacters = kMaxNumberCharacters + 4;
inline constexpr std::size_t kMaxLogLineCharacters =
    kMaxTimeCharacters + 3 + kMaxNumberCharacters + 3 + kMaxNumberCharacters + 1;

// The write_ functions write at `at`, without a check for room, and return the end of what they wrote.
template <class Number>
char* write_number(char* at, Number number) {
  return std::to_chars(at, at + kMaxNumberCharacters, number).ptr;
}

// Milliseconds with three decimals, of a time that is not negative, rounded down.
inline char* write_ms(char* at, Time time) {
  const int64_t us = time / std::chrono::microseconds{1};
  at = write_number(at, us / 1000);
  const auto decimals = static_cast<int>(us % 1000);
  *at++ = '.';
  *at++ = static_cast<char>('0' + decimals / 100);
  *at++ = static_cast<char>('0' + decimals / 10 % 10);
  *at++ = static_cast<char>('0' + decimals % 10);
  return at;
}

inline char* write_separator(char* at) {
  *at++ = ' ';
  *at++ = '-';
  *at++ = ' ';
  return at;
}

// Returns the length of the line.
inline std::size_t write_log_line(std::span<char, kMaxLogLineCharacters> out, Time elapsed, uint64_t uid,
                                  std::size_t bytes) {
  char* at = write_separator(write_ms(out.data(), elapsed));
  at = write_separator(write_number(at, uid));
  at = write_number(at, bytes);
  *at++ = '\n';
  return static_cast<std::size_t>(at - out.data());
}

// `direction`: "ingress" or "egress"; `command`: the program's arguments.
inline std::string log_head(std::span<char* const> command, std::string_view direction, Time wall_clock) {
  std::string head = "#";
  for (const char* argument : command) head += " '" + std::string{argument} + "'";
  for (char& character : head)
    if (character == '\n') character = ' ';
  std::array<char, kMaxTimeCharacters> time{};
  char* const end = write_ms(time.data(), wall_clock);
  return head + " " + std::string{direction} + ": " + std::string{time.data(), end} + "\n";
}

}  // namespace ccgym::tunnel
