// The largest value of the last `Epochs` epochs, the present one included; an epoch is a round trip or a
// cycle, as its owner counts them.
#pragma once

#include <algorithm>
#include <array>

namespace ccgym {

template <int Epochs>
class RecentMax {
 public:
  void update(double value) {
    epochs_[current_] = std::max(epochs_[current_], value);
    best_ = std::max(best_, value);
  }

  // Begins the next epoch and forgets the oldest.
  void advance() {
    current_ = (current_ + 1) % Epochs;
    epochs_[current_] = 0;
    best_ = *std::ranges::max_element(epochs_);
  }

  [[nodiscard]] double best() const { return best_; }  // 0: none

 private:
  std::array<double, Epochs> epochs_{};
  std::size_t current_{0};
  double best_{0};
};

}  // namespace ccgym
