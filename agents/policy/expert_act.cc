#include "agents/policy/expert_act.hh"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>

namespace ccgym {

namespace {

float nearest_class(double cwnd, double ideal) {
  const std::array<double, 5> outcomes{cwnd / 2, cwnd - 10, cwnd, cwnd + 10, cwnd * 2};
  const auto distance = [ideal](double outcome) { return std::abs(outcome - ideal); };
  return static_cast<float>(
      std::distance(outcomes.begin(), std::ranges::min_element(outcomes, std::less{}, distance)));
}

}  // namespace

float expert_act(ActionSet actions, double cwnd_packets, double ideal_packets) {
  if (actions == ActionSet::indigo) return nearest_class(cwnd_packets, ideal_packets);
  if (actions != ActionSet::log_window) {
    throw std::invalid_argument("no expert acts by " + std::string{action_set_name(actions)});
  }
  return static_cast<float>(
      std::clamp(std::log(std::max(ideal_packets - 0.5, 0.5) / cwnd_packets), -1.0, 1.0));
}

}  // namespace ccgym
