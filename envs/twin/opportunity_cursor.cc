#include "envs/twin/opportunity_cursor.hh"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ccgym {

OpportunityCursor::OpportunityCursor(std::shared_ptr<const Schedule> schedule)
    : schedule_(std::move(schedule)),
      timestamps_(schedule_->timestamps()),
      tick_ns_(schedule_->tick_ns()),
      constant_(schedule_->is_constant()),
      repeats_(schedule_->repeats()),
      period_ms_(schedule_->period_ms()),
      begin_ms_(schedule_->begin_ms()),
      opportunities_(schedule_->opportunities_per_period()),
      step_ms_(period_ms_ / opportunities_),
      step_remainder_(period_ms_ % opportunities_) {
  if (constant_) {
    place_constant(0);
  } else {
    place_trace(schedule_->opportunities_before_begin(), 0);
  }
}

void OpportunityCursor::search_after(int64_t ns) {
  if (constant_) {
    place_constant(ns / kNsPerMs);
  } else if (!repeats_ && ns / kNsPerMs >= period_ms_) {
    end();
  } else {
    const int64_t origin_ns = begin_ms_ * kNsPerMs + ns;
    const int64_t loops = origin_ns / (period_ms_ * kNsPerMs);
    // In the millisecond of a wrap the zeros of the new loop come after the last line of the old one.
    const int64_t within_ns = origin_ns - loops * period_ms_ * kNsPerMs;
    const auto later = std::ranges::upper_bound(timestamps_, within_ns / tick_ns_);
    place_trace(std::distance(timestamps_.begin(), later), loops);
  }
}

void OpportunityCursor::place_constant(int64_t after_ms) {
  const int64_t number = (begin_ms_ + after_ms) * opportunities_ / period_ms_ + 1;
  const int64_t product = number * period_ms_;
  quotient_ms_ = product / opportunities_ - begin_ms_;
  remainder_ = product % opportunities_;
  next_ns_ = (quotient_ms_ + (remainder_ > 0 ? 1 : 0)) * kNsPerMs;
}

void OpportunityCursor::place_trace(int64_t index, int64_t loops) {
  index_ = index;
  loop_base_ns_ = (loops * period_ms_ - begin_ms_) * kNsPerMs;
  next_ns_ = loop_base_ns_ + timestamps_[static_cast<std::size_t>(index_)] * tick_ns_;
}

}  // namespace ccgym
