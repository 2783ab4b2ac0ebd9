#include "transport/traffic.hh"

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace ccgym {

namespace {

constexpr Time kMinMean = std::chrono::milliseconds{1};
constexpr double kMaxNs = 1e18;  // 30 years: sums of a few of these fit into a Time

Time exponential(Random& random, Time mean) {
  const double drawn_ns = random.exponential(static_cast<double>(mean.count()));
  return Time{1 + static_cast<int64_t>(std::min(drawn_ns, kMaxNs))};
}

bool has_spells(const TrafficSpec& spec) { return spec.mean_on > Time{} || spec.mean_off > Time{}; }

}  // namespace

TrafficSpec checked(const TrafficSpec& spec) {
  if (has_spells(spec) && std::min(spec.mean_on, spec.mean_off) < kMinMean)
    throw std::invalid_argument(
        "spells of traffic: a mean of a millisecond or more, on and off, would be right");
  if (spec.mean_think && spec.packets <= 0)
    throw std::invalid_argument("answers to requests need a size: bytes would be right");
  return spec;
}

OnOffSpells::OnOffSpells(Time mean_on, Time mean_off, Random random)
    : mean_on_(mean_on), mean_off_(mean_off), random_(random), end_(draw(mean_on)) {}

bool OnOffSpells::on(Time now) {
  while (now >= end_) {
    on_ = !on_;
    end_ += draw(on_ ? mean_on_ : mean_off_);
  }
  return on_;
}

Time OnOffSpells::draw(Time mean) { return exponential(random_, mean); }

Traffic::Traffic(const TrafficSpec& spec, uint64_t seed)
    : packets_{spec.packets > 0 ? spec.packets : kEndless},
      mean_think_{spec.mean_think},
      random_{stream_seed(seed, 0)},
      packets_in_all_{packets_} {
  if (has_spells(checked(spec))) spells_.emplace(spec.mean_on, spec.mean_off, Random{stream_seed(seed, 1)});
}

bool Traffic::offers(Time now, int64_t delivered_packets, int64_t inflight_packets) {
  in_spell_ = !spells_ || spells_->on(now);
  offers_at_ = now;
  return in_spell_ && now >= began_ && delivered_packets + inflight_packets < packets_in_all_;
}

void Traffic::on_delivered(Time now, int64_t delivered_packets) {
  if (finished_ || delivered_packets < packets_in_all_) return;
  completion_times_.push_back(now - began_);
  if (!mean_think_) {
    finished_ = true;
    return;
  }
  began_ = now + exponential(random_, *mean_think_);
  packets_in_all_ = delivered_packets + packets_;
}

std::optional<Time> Traffic::next_change() const {
  if (!in_spell_) return spells_->ends_at();
  return offers_at_ < began_ ? std::optional{began_} : std::nullopt;
}

}  // namespace ccgym
