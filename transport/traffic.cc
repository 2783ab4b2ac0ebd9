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

bool is_on_off(const TrafficSpec& spec) { return spec.mean_on > Time{} || spec.mean_off > Time{}; }

}  // namespace

TrafficSpec checked(const TrafficSpec& spec) {
  if (is_on_off(spec) && std::min(spec.mean_on, spec.mean_off) < kMinMean)
    throw std::invalid_argument(
        "spells of traffic: a mean of a millisecond or more, on and off, would be right");
  if (spec.mean_think && spec.packets <= 0)
    throw std::invalid_argument("answers to requests need a size: bytes would be right");
  return spec;
}

OnOffPeriods::OnOffPeriods(Time mean_on, Time mean_off, Random random)
    : mean_on_(mean_on), mean_off_(mean_off), random_(random), end_(draw(mean_on)) {}

bool OnOffPeriods::on(Time now) {
  while (now >= end_) {
    on_ = !on_;
    end_ += draw(on_ ? mean_on_ : mean_off_);
  }
  return on_;
}

Time OnOffPeriods::draw(Time mean) { return exponential(random_, mean); }

Traffic::Traffic(const TrafficSpec& spec, uint64_t seed)
    : packets_{spec.packets > 0 ? spec.packets : kEndless},
      mean_think_{spec.mean_think},
      random_{stream_seed(seed, 0)},
      total_packets_{packets_} {
  if (is_on_off(checked(spec))) periods_.emplace(spec.mean_on, spec.mean_off, Random{stream_seed(seed, 1)});
}

bool Traffic::offers(Time now, int64_t delivered_packets, int64_t inflight_packets) {
  is_on_ = !periods_ || periods_->on(now);
  asked_at_ = now;
  return is_on_ && now >= began_ && delivered_packets + inflight_packets < total_packets_;
}

void Traffic::on_delivered(Time now, int64_t delivered_packets) {
  if (finished_ || delivered_packets < total_packets_) return;
  completion_times_.push_back(now - began_);
  if (!mean_think_) {
    finished_ = true;
    return;
  }
  began_ = now + exponential(random_, *mean_think_);
  total_packets_ = delivered_packets + packets_;
}

std::optional<Time> Traffic::next_change() const {
  if (!is_on_) return periods_->ends_at();
  return asked_at_ < began_ ? std::optional{began_} : std::nullopt;
}

}  // namespace ccgym
