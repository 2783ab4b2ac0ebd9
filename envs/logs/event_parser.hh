// Logs of one event per line, `TIME KIND NUMBER...`, read in pieces of any size.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ccgym {

// The layout of a kind of line has a letter for each field. The first field is the time, the second the kind.
// Letters: `k` the kind, `d` a number with three decimals, `i` a whole number, `n` one from 0 to 2^31 - 1,
// `x` a whole number that is skipped, `s` a minus sign between two numbers.
using EventLayouts = std::map<char, std::string>;

using EventColumn = std::variant<std::vector<double>, std::vector<int64_t>, std::vector<int32_t>>;

// Keeps the numbers of every line as columns; those of `x`, `s` and `k` stay empty.
class EventParser {
 public:
  enum class Order { kept, any };  // kept: a line with an earlier time than the line before is an error

  EventParser(EventLayouts layouts, Order order, int64_t first_line);

  // Throws std::invalid_argument for a broken line: "LINE: 'CONTENT' what is wrong".
  void feed(std::string_view piece);

  // Ends a log, whose last line may have no newline.
  void finish();

  [[nodiscard]] bool cut_in_mid_line() const { return !rest_.empty(); }
  [[nodiscard]] int64_t backwards() const { return backwards_; }  // lines out of order
  [[nodiscard]] double most_backwards_ms() const;

  [[nodiscard]] EventColumn take(char kind, std::size_t field);

 private:
  struct Kind {
    std::string layout;
    std::vector<EventColumn> columns;
  };

  void check_length(std::string_view line) const;
  void read(std::string_view line);
  void keep(Kind& kind, std::string_view line);
  void check_order(std::string_view line, int64_t time_us);
  [[noreturn]] void refuse(std::string_view line, const std::string& wrong) const;

  std::map<char, Kind> kinds_{};
  Order order_;
  int64_t line_;
  std::string rest_{};
  std::vector<std::string_view> fields_{};
  int64_t last_us_;
  int64_t backwards_{};
  int64_t most_backwards_us_{};
};

}  // namespace ccgym
