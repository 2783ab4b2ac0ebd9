// A windowed minimum or maximum: the best of the values within a time window.
//
// A monotone queue in a fixed ring. An entry is kept while it is within the window and no later value is as
// good, so that the oldest entry is the best. A worse value is only added if it is at least window /
// kCapacity younger than the entry before it. `best` is therefore the best of the last w, where window * (1 -
// 1/kCapacity) <= w <= window. No allocation, amortised O(1).
#pragma once

#include <array>
#include <cstddef>
#include <functional>

#include "transport/units.hh"

namespace ccgym {

template <class Value, class Better>
class WindowedFilter {
 public:
  // `now` never decreases; the window may change from call to call.
  void update(Time now, Value value, Time window) {
    while (!empty() && oldest().at + window < now) ++begin_;
    while (!empty() && !Better{}(newest().value, value)) --end_;
    if (empty() || (end_ - begin_ < kRing && now - newest().at >= window / kCapacity))
      entries_[end_++ % kRing] = {now, value};
  }

  [[nodiscard]] bool empty() const { return begin_ == end_; }
  [[nodiscard]] Value best() const { return oldest().value; }  // only when not empty

 private:
  struct Entry {
    Time at{};
    Value value{};
  };
  static constexpr int kCapacity = 16;                 // entries per window
  static constexpr std::size_t kRing = 2 * kCapacity;  // leaves room for a window that grows

  [[nodiscard]] const Entry& oldest() const { return entries_[begin_ % kRing]; }
  [[nodiscard]] const Entry& newest() const { return entries_[(end_ - 1) % kRing]; }

  std::array<Entry, kRing> entries_{};
  std::size_t begin_{0};  // the oldest entry; neither index is reduced modulo kRing, a divisor of their range
  std::size_t end_{0};
};

template <class Value>
using WindowedMin = WindowedFilter<Value, std::less<Value>>;
template <class Value>
using WindowedMax = WindowedFilter<Value, std::greater<Value>>;

}  // namespace ccgym
