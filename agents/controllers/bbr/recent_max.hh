// The largest value of the last `Epochs` epochs, including the present one; the caller decides what an epoch
// is, such as a round trip. Old values are only dropped when a new one is added, so that there is always a
// largest one.
#pragma once

#include <algorithm>
#include <array>

namespace ccgym {

template <int Epochs>
class RecentMax {
 public:
  void update(double value) {
    if (passed_ > 0) forget_oldest();
    epochs_[current_] = std::max(epochs_[current_], value);
    best_ = std::max(best_, value);
  }

  // Begins the next epoch.
  void advance() { passed_ = std::min(passed_ + 1, Epochs); }

  [[nodiscard]] double best() const { return best_; }  // 0: none

 private:
  void forget_oldest() {
    for (; passed_ > 0; --passed_) {
      current_ = (current_ + 1) % Epochs;
      epochs_[current_] = 0;
    }
    best_ = *std::ranges::max_element(epochs_);
  }

  std::array<double, Epochs> epochs_{};
  std::size_t current_{0};
  int passed_{0};  // epochs begun since the last value
  double best_{0};
};

}  // namespace ccgym
