// The rule table of a RemyCC. Each rule ("whisker") is a box in the space of the memory, and the action to
// take while the memory is within that box.
//
// Winstein and Balakrishnan, "TCP ex Machina", SIGCOMM 2013, section 4; the memory's four signals are those
// of Sivaraman et al., "An Experimental Study of the Learnability of Congestion Control" (TaoVA), SIGCOMM
// 2014. The file is JSON:
//
//   {"format": "ccgym-remy", "version": 1,
//    "whiskers": [
//      {"from": {"send_ewma_ms": 0, "rec_ewma_ms": 0, "rtt_ratio": 0, "slow_rec_ewma_ms": 0},
//       "to": {"send_ewma_ms": 163840, "rec_ewma_ms": 163840, "rtt_ratio": 163840, "slow_rec_ewma_ms":
//       163840}, "window_multiple": 1.0, "window_increment": 1, "intersend_ms": 0.25}]}
//
// The memory is within a box if from <= memory < to for every signal. The first such whisker in the file
// applies; if there is none, the one with the nearest box (Euclidean distance).
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <vector>

namespace ccgym {

// The signals of the memory, in the order of RemyMemory.
namespace remy_signal {
inline constexpr std::size_t kSendEwmaMs = 0;     // between the departures of acknowledged packets
inline constexpr std::size_t kRecEwmaMs = 1;      // between their arrivals at the receiver
inline constexpr std::size_t kRttRatio = 2;       // latest RTT / min RTT
inline constexpr std::size_t kSlowRecEwmaMs = 3;  // as kRecEwmaMs, over more packets
}  // namespace remy_signal

using RemyMemory = std::array<double, 4>;

struct Whisker {
  RemyMemory from{};
  RemyMemory to{};
  double window_multiple{};   // m
  double window_increment{};  // b, packets
  double intersend_ms{};      // tau, the least time between two packets
};

class RemyTable {
 public:
  // Throws std::invalid_argument for an empty table, and for a whisker with a number out of range.
  explicit RemyTable(std::vector<Whisker> whiskers);

  // The rule for `memory`: the first whose box contains it, or else the one with the nearest box.
  [[nodiscard]] const Whisker& find(const RemyMemory& memory) const;
  [[nodiscard]] std::size_t size() const { return whiskers_.size(); }

 private:
  std::vector<Whisker> whiskers_;
};

// `text` is the content of a file as above. Throws std::runtime_error if it does not have that format, and
// std::invalid_argument as RemyTable does.
RemyTable parse_remy_table(std::string_view text);
// Throws std::runtime_error for a file that cannot be read, and for all errors of parse_remy_table, with the
// file's name first.
RemyTable load_remy_table(const std::filesystem::path& file);

}  // namespace ccgym
