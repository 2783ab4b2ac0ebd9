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
  [[nodiscard]] const T& front() const { return items_[head_ & mask_]; }
  [[nodiscard]] T& front() { return items_[head_ & mask_]; }

  void push(const T& item) {
    if (size() > mask_) grow();
    items_[tail_++ & mask_] = item;
  }
  T pop() { return items_[head_++ & mask_]; }
  void drop_front() { ++head_; }

 private:
  static constexpr std::size_t kInitialCapacity = 16;

  [[gnu::noinline]] void grow() {
    std::vector<T> larger(2 * items_.size());
    for (std::size_t i = head_; i != tail_; ++i) larger[i & (larger.size() - 1)] = items_[i & mask_];
    items_ = std::move(larger);
    mask_ = items_.size() - 1;
  }

  std::vector<T> items_{std::vector<T>(kInitialCapacity)};
  std::size_t mask_{kInitialCapacity - 1};
  std::size_t head_{0};
  std::size_t tail_{0};
};

}  // namespace ccgym
