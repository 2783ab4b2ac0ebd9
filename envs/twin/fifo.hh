// First in, first out, in a ring that grows and never shrinks: no allocation in steady state.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace ccgym {

template <class T>
class Fifo {
 public:
  [[nodiscard]] bool empty() const { return head_ == tail_; }
  [[nodiscard]] std::size_t size() const { return tail_ - head_; }
  [[nodiscard]] const T& front() const { return items_[head_ & mask()]; }

  void push(const T& item) {
    if (size() == items_.size()) grow();
    items_[tail_++ & mask()] = item;
  }
  T pop() { return items_[head_++ & mask()]; }

 private:
  static constexpr std::size_t kInitialCapacity = 16;

  [[nodiscard]] std::size_t mask() const { return items_.size() - 1; }

  void grow() {
    std::vector<T> larger(2 * items_.size());
    for (std::size_t i = head_; i != tail_; ++i) larger[i & (larger.size() - 1)] = items_[i & mask()];
    items_ = std::move(larger);
  }

  std::vector<T> items_{std::vector<T>(kInitialCapacity)};
  std::size_t head_{0};
  std::size_t tail_{0};
};

}  // namespace ccgym
