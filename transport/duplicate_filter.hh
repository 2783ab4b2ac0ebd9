// Detects repeated sequence numbers within a sliding window.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ccgym {

class DuplicateFilter {
 public:
  // Returns true if `seq` is new; false if it is a repetition, or if it is so far behind the newest number
  // that it is no longer known whether it is one.
  bool insert(uint64_t seq) {
    if (seq >= end_) advance(seq);
    if (end_ - seq > kWindowPackets) return false;
    uint64_t& word = words_[word_of(seq)];
    const uint64_t bit = uint64_t{1} << seq % 64;
    const bool first = (word & bit) == 0;
    word |= bit;
    return first;
  }

 private:
  static constexpr uint64_t kWords = 2048;
  static constexpr uint64_t kWindowPackets = 64 * (kWords - 1);  // 131008: 1.5 s of full packets at 1 Gbit/s

  static uint64_t word_of(uint64_t seq) { return seq / 64 % kWords; }

  // Moves the window so that it ends after `seq`, and clears the words that it enters.
  void advance(uint64_t seq) {
    const uint64_t last_word = end_ == 0 ? 0 : (end_ - 1) / 64;
    const uint64_t entered = std::min(seq / 64 - last_word, kWords);
    for (uint64_t i = 1; i <= entered; ++i) words_[(last_word + i) % kWords] = 0;
    end_ = seq + 1;
  }

  std::vector<uint64_t> words_ = std::vector<uint64_t>(kWords);
  uint64_t end_{0};  // one past the newest number
};

}  // namespace ccgym
