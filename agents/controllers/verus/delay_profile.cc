#include "agents/controllers/verus/delay_profile.hh"

#include <algorithm>
#include <cmath>

namespace ccgym {

namespace {

constexpr double kWeight = 0.125;       // of the newest delay in a point's average: the authors' program
constexpr double kNone = -1;            // a point without a delay yet
constexpr double kMinEndSlopeMs = 0.1;  // ms per packet, beyond the largest window seen

struct Knot {
  double window{};
  double delay_ms{};
  double curvature{};  // second derivative
};

std::vector<Knot> knots_of(const std::vector<double>& points) {
  std::vector<Knot> knots;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i] >= 0) knots.push_back({static_cast<double>(i + 1), points[i], 0});
  }
  return knots;
}

// Isotonic regression by pooling adjacent violators: the profile has to be invertible, but when the window is
// reduced while the queue is full, small windows meet large delays.
void make_monotone(std::vector<Knot>& knots) {
  struct Pool {
    double mean_ms{};
    std::size_t count{};
  };
  std::vector<Pool> pools;
  for (const Knot& knot : knots) {
    Pool pool{knot.delay_ms, 1};
    while (!pools.empty() && pools.back().mean_ms > pool.mean_ms) {
      const auto [mean_ms, count] = pools.back();
      pools.pop_back();
      const auto both = static_cast<double>(count + pool.count);
      pool.mean_ms += (mean_ms - pool.mean_ms) * static_cast<double>(count) / both;
      pool.count += count;
    }
    pools.push_back(pool);
  }
  auto knot = knots.begin();
  for (const Pool& pool : pools) {
    for (std::size_t i = 0; i < pool.count; ++i) (knot++)->delay_ms = pool.mean_ms;
  }
}

// The second derivatives of the natural cubic spline: a tridiagonal system, solved by elimination.
void solve_curvatures(std::vector<Knot>& knots) {
  const std::size_t count = knots.size();
  std::vector<double> upper(count, 0);
  for (std::size_t i = 1; i + 1 < count; ++i) {
    const double before = knots[i].window - knots[i - 1].window;
    const double after = knots[i + 1].window - knots[i].window;
    const double bend = (knots[i + 1].delay_ms - knots[i].delay_ms) / after -
                        (knots[i].delay_ms - knots[i - 1].delay_ms) / before;
    const double pivot = 2 * (before + after) - before * upper[i - 1];
    upper[i] = after / pivot;
    knots[i].curvature = (6 * bend - before * knots[i - 1].curvature) / pivot;
  }
  for (std::size_t i = count - 1; i-- > 1;) knots[i].curvature -= upper[i] * knots[i + 1].curvature;
}

double spline_delay_ms(const Knot& left, const Knot& right, double window) {
  const double width = right.window - left.window;
  const double a = (right.window - window) / width;
  const double b = 1 - a;
  return a * left.delay_ms + b * right.delay_ms +
         ((a * a * a - a) * left.curvature + (b * b * b - b) * right.curvature) * width * width / 6;
}

}  // namespace

void DelayProfile::add(double window_packets, double delay_ms) {
  const auto index = static_cast<std::size_t>(std::max(1.0, std::floor(window_packets))) - 1;
  if (index >= points_.size()) points_.resize(index + 1, kNone);
  double& point = points_[index];
  point = point < 0 ? delay_ms : point + kWeight * (delay_ms - point);
}

void DelayProfile::interpolate() {
  std::vector<Knot> knots = knots_of(points_);
  if (knots.empty()) return;
  make_monotone(knots);
  solve_curvatures(knots);
  curve_.assign(points_.size(), knots.front().delay_ms);
  std::size_t right = 1;
  double highest_ms = 0;
  for (auto window = static_cast<std::size_t>(knots.front().window); window <= curve_.size(); ++window) {
    while (right < knots.size() && knots[right].window < static_cast<double>(window)) ++right;
    const double delay_ms = right < knots.size()
                                ? spline_delay_ms(knots[right - 1], knots[right], static_cast<double>(window))
                                : knots.back().delay_ms;
    highest_ms = curve_[window - 1] = std::max(highest_ms, delay_ms);  // a spline overshoots beside a step
  }
}

void DelayProfile::clear() {
  points_.clear();
  curve_.clear();
}

double DelayProfile::delay_ms(double window_packets) const {
  const double last = static_cast<double>(curve_.size());
  if (window_packets >= last) return curve_.back() + (window_packets - last) * end_slope();
  const double window = std::max(1.0, window_packets);
  const auto index = static_cast<std::size_t>(window) - 1;
  const double share = window - std::floor(window);
  return curve_[index] + share * (curve_[index + 1] - curve_[index]);
}

double DelayProfile::window_packets(double delay_ms) const {
  const auto above = std::ranges::upper_bound(curve_, delay_ms);
  if (above == curve_.end())
    return static_cast<double>(curve_.size()) + (delay_ms - curve_.back()) / end_slope();
  if (above == curve_.begin()) return 1;
  const double below_ms = *std::prev(above);
  const double below_packets = static_cast<double>(std::distance(curve_.begin(), above));
  return below_packets + (delay_ms - below_ms) / (*above - below_ms);
}

// In ms per packet: the mean slope of the whole curve, because the slope at its end would be mostly noise.
double DelayProfile::end_slope() const {
  if (curve_.size() < 2) return kMinEndSlopeMs;
  const double mean = (curve_.back() - curve_.front()) / static_cast<double>(curve_.size() - 1);
  return std::max(mean, kMinEndSlopeMs);
}

}  // namespace ccgym
