#include "deploy/endpoint/traffic.hh"

namespace ccgym {

OnOffSpells::OnOffSpells(Time mean_on, Time mean_off, uint64_t seed)
    : mean_on_(mean_on), mean_off_(mean_off), random_(seed), end_(draw(mean_on)) {}

bool OnOffSpells::on(Time now) {
  while (now >= end_) {
    on_ = !on_;
    end_ += draw(on_ ? mean_on_ : mean_off_);
  }
  return on_;
}

Time OnOffSpells::draw(Time mean) {
  return Time{1 + static_cast<int64_t>(random_.exponential(static_cast<double>(mean.count())))};
}

bool Traffic::offers(Time now, int64_t delivered_packets, int64_t inflight_packets) {
  in_spell_ = !spells_ || spells_->on(now);
  return in_spell_ && delivered_packets + inflight_packets < packets_;
}

std::optional<Time> Traffic::next_change() const {
  return in_spell_ ? std::nullopt : std::optional{spells_->ends_at()};
}

}  // namespace ccgym
