// The lines of a link's merged log, in Pantheon's format, from the sorted logs of its flows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <queue>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ccgym {

// Events at the same time come in the order in which their columns were added. The caller keeps the columns.
class MergedLines {
 public:
  void add_opportunities(std::span<const double> times_ms, int32_t bytes);
  void add_sent(std::span<const double> times_ms, std::span<const int32_t> bytes, int64_t flow);
  // Delays are those of the link; packets are received `propagation_ms` later.
  void add_received(std::span<const double> times_ms, std::span<const int32_t> bytes,
                    std::span<const double> delays_ms, double propagation_ms, int64_t flow);

  // Whole lines, some `characters` long together; empty at the end.
  std::string next(std::size_t characters);

 private:
  struct Column {
    char kind;
    std::span<const double> times_ms;
    std::span<const int32_t> bytes;
    std::span<const double> delays_ms;
    double propagation_ms;
    int64_t number;  // the flow, or how many bytes an opportunity has
    std::size_t position{};
  };
  using Head = std::pair<double, std::size_t>;  // time of the next event of a column, and the column

  void add(const Column& column);
  void queue(std::size_t index);
  static void write(const Column& column, double time_ms, std::string& text);

  std::vector<Column> columns_{};
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads_{};
};

}  // namespace ccgym
