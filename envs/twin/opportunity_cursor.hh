// A position in a schedule, which moves from one delivery opportunity to the next. It runs for every packet,
// and so keeps copies of what it needs of the schedule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "envs/twin/schedule.hh"
#include "envs/twin/timing.hh"

namespace ccgym {

class OpportunityCursor {
 public:
  explicit OpportunityCursor(std::shared_ptr<const Schedule> schedule);

  [[nodiscard]] int64_t next_ns() const { return next_ns_; }  // kNeverNs: there are no more
  void advance() { constant_ ? advance_constant() : advance_trace(); }
  // To the first opportunity after `ns`; never back.
  void skip_through(int64_t ns) {
    for (int step = 0; next_ns_ <= ns; ++step) {
      if (step == kStepsBeforeSearch) return search_after(ns);
      advance();
    }
  }

 private:
  static constexpr int kStepsBeforeSearch = 4;  // fewer are cheaper than a search

  void advance_constant() {
    quotient_ms_ += step_ms_;
    remainder_ += step_remainder_;
    if (remainder_ >= opportunities_) {
      remainder_ -= opportunities_;
      ++quotient_ms_;
    }
    next_ns_ = (quotient_ms_ + (remainder_ > 0 ? 1 : 0)) * kNsPerMs;
  }
  void advance_trace() {
    if (++index_ == opportunities_) {
      if (!repeats_) return end();
      index_ = 0;
      loop_base_ns_ += period_ms_ * kNsPerMs;
    }
    next_ns_ = loop_base_ns_ + timestamps_[static_cast<std::size_t>(index_)] * tick_ns_;
  }
  void end() { next_ns_ = kNeverNs; }
  void search_after(int64_t ns);
  void place_constant(int64_t after_ms);
  void place_trace(int64_t index, int64_t loops);

  std::shared_ptr<const Schedule> schedule_;
  std::span<const uint32_t> timestamps_;  // of the schedule held above, in ticks
  int64_t tick_ns_;
  bool constant_;
  bool repeats_;
  int64_t period_ms_;
  int64_t begin_ms_;
  int64_t opportunities_;
  int64_t step_ms_;         // constant: opportunity n is due at ceil(n * period / opportunities), kept as
  int64_t step_remainder_;  // quotient and remainder so that no opportunity costs a division
  int64_t quotient_ms_{0};
  int64_t remainder_{0};
  int64_t index_{0};
  int64_t loop_base_ns_{0};
  int64_t next_ns_{0};
};

}  // namespace ccgym
