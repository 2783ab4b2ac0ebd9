#include "envs/twin/direction.hh"

#include <algorithm>
#include <cmath>

namespace ccgym {

namespace {

constexpr double kMaxSojournMs = 1 << 30;

int64_t as_ns(double ms) { return std::llround(ms * static_cast<double>(kNsPerMs)); }

}  // namespace

OnOffGate::OnOffGate(const OnOffSpec& spec, uint64_t seed) : spec_(spec), random_(seed) {
  if (spec.mean_on_ms <= 0) return;
  check_sojourns(spec.mean_on_ms, spec.mean_off_ms);
  ends_ns_ = sojourn_ns(spec.mean_on_ms);
}

bool OnOffGate::on(int64_t ns) {
  while (ns >= ends_ns_) {
    on_ = !on_;
    ends_ns_ += sojourn_ns(on_ ? spec_.mean_on_ms : spec_.mean_off_ms);
  }
  return on_;
}

// Cut to whole milliseconds, as mahimahi does.
int64_t OnOffGate::sojourn_ns(double mean_ms) {
  return static_cast<int64_t>(std::min(random_.exponential(mean_ms), kMaxSojournMs)) * kNsPerMs;
}

DelayLine::DelayLine(const PathSpec& path)
    : timing_(path.timing), delay_ns_(as_ns(path.delay_ms)), varying_ms_(path.varying_delay_ms) {
  if (varying_ms_ != nullptr) cursor_.emplace(*varying_ms_);
}

int64_t DelayLine::leaves_ns(int64_t ns) {
  if (!cursor_) return ns + delay_ns_;
  const double now_ms = static_cast<double>(ns) / static_cast<double>(kNsPerMs);
  last_leaves_ns_ = std::max(last_leaves_ns_, clock_ns(timing_, ns + as_ns(cursor_->value_at(now_ms))));
  return last_leaves_ns_;
}

void ElementChain::add(Element element) {
  if (element == Element::delay) delays_ = true;
  if (element == Element::loss) loses_ = loss_ > 0;
  if (element == Element::onoff && interrupted_)
    gate_place_ = delays_ ? GatePlace::behind_delay : GatePlace::before_delay;
  plain_ = !loses_ && gate_place_ == GatePlace::none && !(delays_ && delay_.varies());
  plain_delay_ns_ = delays_ ? delay_.constant_ns() : 0;
}

int64_t ElementChain::pass_elements(int64_t ns, Random& random) {
  if (loses_ && random.chance(loss_)) return kNeverNs;
  if (gate_place_ == GatePlace::before_delay && !gate_.on(ns)) return kNeverNs;
  const int64_t leaves_ns = delays_ ? delay_.leaves_ns(ns) : ns;
  if (gate_place_ == GatePlace::behind_delay && !gate_.on(leaves_ns)) return kNeverNs;
  return leaves_ns;
}

Direction::Direction(const PathSpec& path, const LinkSpec& spec, Way way, Random seeds)
    : link(spec.schedule, spec.queue, path.timing, seeds.bits()),
      timing_(path.timing),
      before_(path, spec, seeds.bits()),
      behind_(path, spec, seeds.bits()) {
  Nesting order = path.nesting;  // as a packet meets them
  if (way == Way::up) std::ranges::reverse(order);
  const auto* const at = std::ranges::find(order, Element::link);
  std::for_each(order.cbegin(), at, [this](Element element) { before_.add(element); });
  std::for_each(at, order.cend(), [this](Element element) { behind_.add(element); });
}

}  // namespace ccgym
