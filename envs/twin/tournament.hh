// The earliest of many times, one per contestant: a tournament tree, in which changing one time costs at most
// a comparison per level. Of equal times the contestant with the lower number wins.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ccgym {

class Tournament {
 public:
  static constexpr int64_t kNever = INT64_MAX;

  explicit Tournament(std::size_t contestants)
      : leaves_(std::bit_ceil(contestants)), nodes_(2 * leaves_, Node{kNever, 0}) {
    for (std::size_t i = 0; i < leaves_; ++i) nodes_[leaves_ + i].contestant = static_cast<uint32_t>(i);
    for (std::size_t i = leaves_ - 1; i > 0; --i) nodes_[i].contestant = nodes_[2 * i].contestant;
  }

  [[nodiscard]] int64_t earliest() const { return nodes_[1].time; }
  [[nodiscard]] std::size_t winner() const { return nodes_[1].contestant; }

  void set(std::size_t contestant, int64_t time) {
    std::size_t node = leaves_ + contestant;
    nodes_[node].time = time;
    while (node > 1) {
      const Node& left = nodes_[node & ~std::size_t{1}];
      const Node& right = nodes_[node | 1];
      const Node& best = right.time < left.time ? right : left;
      node /= 2;
      if (nodes_[node] == best) return;
      nodes_[node] = best;
    }
  }

 private:
  struct Node {
    int64_t time;
    uint32_t contestant;
    bool operator==(const Node&) const = default;
  };

  std::size_t leaves_;
  std::vector<Node> nodes_;
};

}  // namespace ccgym
