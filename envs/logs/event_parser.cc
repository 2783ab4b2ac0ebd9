#include "envs/logs/event_parser.hh"

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

namespace ccgym {

namespace {

// The letters of a layout, see EventLayouts.
constexpr char kKind = 'k';
constexpr char kMs = 'd';
constexpr char kInt32 = 'n';
constexpr char kSkipped = 'x';
constexpr char kMinus = 's';

constexpr std::size_t kDecimals = 3;
constexpr std::size_t kMaxNumberCharacters = 18;
constexpr std::size_t kMaxLineCharacters = 1000;
constexpr std::size_t kMaxExcerptCharacters = 80;
constexpr double kPerMs = 1000.0;

bool is_blank(char letter) { return letter == ' ' || letter == '\t' || letter == '\r'; }

void split(std::string_view line, std::vector<std::string_view>& fields) {
  fields.clear();
  for (std::size_t end = 0; end < line.size();) {
    const std::size_t begin = end;
    if (is_blank(line[begin])) {
      ++end;
      continue;
    }
    while (end < line.size() && !is_blank(line[end])) ++end;
    fields.push_back(line.substr(begin, end - begin));
  }
}

// A number with a point before its last `decimals` digits, in units of the last digit.
std::optional<int64_t> number(std::string_view field, std::size_t decimals) {
  const std::size_t point = decimals == 0 ? field.size() : field.size() - decimals - 1;
  const bool negative = field.starts_with('-');
  if (field.size() > kMaxNumberCharacters || field.size() <= negative) return std::nullopt;
  if (decimals != 0 && (field.size() <= decimals || field[point] != '.')) return std::nullopt;
  int64_t value = 0;
  for (std::size_t i = negative; i < field.size(); ++i) {
    if (i == point) continue;
    if (field[i] < '0' || field[i] > '9') return std::nullopt;
    value = 10 * value + (field[i] - '0');
  }
  return negative ? -value : value;
}

EventColumn column_of(char letter) {
  if (letter == kMs) return std::vector<double>{};
  if (letter == kInt32) return std::vector<int32_t>{};
  return std::vector<int64_t>{};
}

void append(EventColumn& column, int64_t value) {
  if (auto* const decimals = std::get_if<std::vector<double>>(&column))
    decimals->push_back(static_cast<double>(value) / kPerMs);
  else if (auto* const small = std::get_if<std::vector<int32_t>>(&column))
    small->push_back(static_cast<int32_t>(value));
  else
    std::get<std::vector<int64_t>>(column).push_back(value);
}

bool fits(char letter, int64_t value) {
  return letter != kInt32 || (value >= 0 && value <= std::numeric_limits<int32_t>::max());
}

std::string excerpt(std::string_view line) {
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  std::string shown{line.substr(0, kMaxExcerptCharacters)};
  std::ranges::replace_if(shown, [](char letter) { return letter < ' ' || letter > '~'; }, '?');
  return line.size() > kMaxExcerptCharacters ? shown + "..." : shown;
}

}  // namespace

EventParser::EventParser(EventLayouts layouts, Order order, int64_t first_line)
    : order_{order}, line_{first_line}, last_us_{std::numeric_limits<int64_t>::min()} {
  for (auto& [kind, layout] : layouts) {
    std::vector<EventColumn> columns;
    for (const char letter : layout) columns.push_back(column_of(letter));
    kinds_.emplace(kind, Kind{std::move(layout), std::move(columns)});
  }
}

void EventParser::feed(std::string_view piece) {
  while (!piece.empty()) {
    const std::size_t end = piece.find('\n');
    if (end == std::string_view::npos || !rest_.empty()) rest_ += piece.substr(0, end);
    if (end == std::string_view::npos) return check_length(rest_);
    read(rest_.empty() ? piece.substr(0, end) : rest_);
    rest_.clear();
    piece.remove_prefix(end + 1);
  }
}

void EventParser::finish() {
  if (!rest_.empty()) read(rest_);
  rest_.clear();
}

double EventParser::most_backwards_ms() const { return static_cast<double>(most_backwards_us_) / kPerMs; }

EventColumn EventParser::take(char kind, std::size_t field) {
  return std::exchange(kinds_.at(kind).columns.at(field), EventColumn{});
}

void EventParser::check_length(std::string_view line) const {
  if (line.size() > kMaxLineCharacters) refuse(line, "is no event: too long");
}

void EventParser::read(std::string_view line) {
  check_length(line);
  split(line, fields_);
  if (fields_.size() < 2) refuse(line, "is no event: a time, a kind and its numbers");
  const auto kind = fields_[1].size() == 1 ? kinds_.find(fields_[1].front()) : kinds_.end();
  if (kind == kinds_.end()) {
    std::string known;
    for (const auto& [name, _] : kinds_) known.append(1, name).append(1, ' ');
    refuse(line, "has none of " + known + "as its second field");
  }
  keep(kind->second, line);
  ++line_;
}

void EventParser::keep(Kind& kind, std::string_view line) {
  if (fields_.size() != kind.layout.size()) refuse(line, "has too few or too many fields");
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const char letter = kind.layout[i];
    if (letter == kKind) continue;
    if (letter == kMinus) {
      if (fields_[i] != "-") refuse(line, "has no ' - ' between its numbers");
      continue;
    }
    const auto value = number(fields_[i], letter == kMs ? kDecimals : 0);
    if (!value) refuse(line, "has a field that is not the number it should be");
    if (!fits(letter, *value)) refuse(line, "has a number beyond 0 to 2147483647");
    if (i == 0) check_order(line, *value);
    if (letter != kSkipped) append(kind.columns[i], *value);
  }
}

void EventParser::check_order(std::string_view line, int64_t time_us) {
  if (time_us < last_us_) {
    if (order_ == Order::kept) refuse(line, "is earlier than the line before");
    ++backwards_;
    most_backwards_us_ = std::max(most_backwards_us_, last_us_ - time_us);
  }
  last_us_ = time_us;
}

void EventParser::refuse(std::string_view line, const std::string& wrong) const {
  throw std::invalid_argument(std::to_string(line_) + ": '" + excerpt(line) + "' " + wrong);
}

}  // namespace ccgym
