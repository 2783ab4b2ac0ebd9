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

// Of events at the same time those come first whose columns were added first. The columns stay their owner's.
class MergedLines {
 public:
  void add_opportunities(std::span<const double> times_ms, int32_t bytes);
  void add_sent(std::span<const double> times_ms, std::span<const int32_t> bytes, int64_t flow);
  // Delays are the link's; the packets come out `propagation_ms` later.
  void add_received(std::span<const double> times_ms, std::span<const int32_t> bytes,
                    std::span<const double> delays_ms, double propagation_ms, int64_t flow);

  // Some `characters` of lines, whole ones; empty at the end.
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
  using Head = std::pair<double, std::size_t>;  // when the next event of a column is

  void add(const Column& column);
  void queue(std::size_t index);
  static void write(const Column& column, double time_ms, std::string& text);

  std::vector<Column> columns_{};
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads_{};
};

}  // namespace ccgym
