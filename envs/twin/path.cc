#include "envs/twin/path.hh"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "transport/name_list.hh"

namespace ccgym {

namespace {

template <class Kind, std::size_t size>
using Names = std::array<std::pair<std::string_view, Kind>, size>;

constexpr Names<Element, 4> kElements{{
    {"delay", Element::delay},
    {"onoff", Element::onoff},
    {"loss", Element::loss},
    {"link", Element::link},
}};
constexpr Names<CrossTrafficKind, 3> kCrossTraffic{{
    {"constant", CrossTrafficKind::constant},
    {"poisson", CrossTrafficKind::poisson},
    {"onoff", CrossTrafficKind::onoff},
}};

template <class Kind, std::size_t size>
Kind by_name(const char* what, const Names<Kind, size>& names, std::string_view name) {
  const auto name_of = &Names<Kind, size>::value_type::first;
  const auto found = std::ranges::find(names, name, name_of);
  if (found != names.end()) return found->second;
  throw std::invalid_argument("unknown " + std::string{what} + " '" + std::string{name} + "': known are " +
                              name_list(names, name_of));
}

}  // namespace

Nesting make_nesting(std::span<const std::string> names) {
  Nesting nesting{};
  if (names.size() != nesting.size())
    throw std::invalid_argument("a nesting holds delay, onoff, loss and link, each once");
  std::ranges::transform(names, nesting.begin(),
                         [](const std::string& name) { return by_name("element", kElements, name); });
  Nesting sorted = nesting;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end())
    throw std::invalid_argument("a nesting holds delay, onoff, loss and link, each once");
  return nesting;
}

PathSpec beginning_at(PathSpec path, int64_t begin_ms) {
  for (LinkSpec* link : {&path.uplink, &path.downlink})
    link->schedule = link->schedule->beginning_at(begin_ms);
  return path;
}

std::vector<FlowSpec> flows_of(const PathSpec& path) {
  if (path.flows.empty()) return {FlowSpec{}};
  if (path.flows.size() > kMaxFlows) {
    throw std::invalid_argument(std::to_string(path.flows.size()) + " flows on a path: at most " +
                                std::to_string(kMaxFlows));
  }
  return path.flows;
}

void check_sojourns(double mean_on_ms, double mean_off_ms) {
  const double shorter_ms = std::min(mean_on_ms, mean_off_ms);
  if (shorter_ms >= 1) return;
  throw std::invalid_argument("a mean time of " + std::to_string(shorter_ms) +
                              " ms on or off: 1 or more would be right");
}

CrossTrafficKind cross_traffic_kind(std::string_view name) {
  return by_name("cross traffic", kCrossTraffic, name);
}

}  // namespace ccgym
