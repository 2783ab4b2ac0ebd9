#include "envs/logs/merged_lines.hh"

#include <array>
#include <charconv>
#include <stdexcept>

namespace ccgym {

namespace {

constexpr std::size_t kMaxLineCharacters = 100;

template <class Number, class... Format>
void put(std::string& text, Number number, Format... format) {
  std::array<char, 400> characters;  // more than the largest double has
  const auto end = std::to_chars(characters.begin(), characters.end(), number, format...).ptr;
  text.append(characters.data(), end);
}

void put_ms(std::string& text, double time_ms) { put(text, time_ms, std::chars_format::fixed, 3); }

}  // namespace

void MergedLines::add_opportunities(std::span<const double> times_ms, int32_t bytes) {
  add({'#', times_ms, {}, {}, 0, bytes});
}

void MergedLines::add_sent(std::span<const double> times_ms, std::span<const int32_t> bytes, int64_t flow) {
  add({'+', times_ms, bytes, {}, 0, flow});
}

void MergedLines::add_received(std::span<const double> times_ms, std::span<const int32_t> bytes,
                               std::span<const double> delays_ms, double propagation_ms, int64_t flow) {
  add({'-', times_ms, bytes, delays_ms, propagation_ms, flow});
}

std::string MergedLines::next(std::size_t characters) {
  std::string text;
  text.reserve(characters + kMaxLineCharacters);
  while (!heads_.empty() && text.size() < characters) {
    const auto [time_ms, index] = heads_.top();
    heads_.pop();
    write(columns_[index], time_ms, text);
    ++columns_[index].position;
    queue(index);
  }
  return text;
}

void MergedLines::add(const Column& column) {
  const std::size_t events = column.times_ms.size();
  const bool whole = column.kind == '#' || column.bytes.size() == events;
  if (!whole || (column.kind == '-' && column.delays_ms.size() != events))
    throw std::invalid_argument("columns of one log differ in length");
  columns_.push_back(column);
  queue(columns_.size() - 1);
}

void MergedLines::queue(std::size_t index) {
  const Column& column = columns_[index];
  if (column.position < column.times_ms.size())
    heads_.emplace(column.times_ms[column.position] + column.propagation_ms, index);
}

void MergedLines::write(const Column& column, double time_ms, std::string& text) {
  put_ms(text, time_ms);
  text.append(1, ' ').append(1, column.kind).append(1, ' ');
  if (column.kind != '#') {
    put(text, column.bytes[column.position]);
    text += ' ';
  }
  if (column.kind == '-') {
    put_ms(text, column.delays_ms[column.position] + column.propagation_ms);
    text += ' ';
  }
  put(text, column.number);
  text += '\n';
}

}  // namespace ccgym
