#include "agents/policy/action_sets.hh"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>

#include "agents/policy/json_checks.hh"
#include "transport/name_list.hh"

namespace ccgym {

namespace {

constexpr double kRateStep = 0.025;  // Aurora's alpha

struct Row {
  std::string_view name;
  std::size_t outputs;  // of the network
  std::size_t numbers;  // of an action
};

constexpr std::array<Row, kActionSets.size()> kRows{{
    {"indigo", 5, 1},
    {"log_window", 1, 1},
    {"rate", 1, 1},
    {"window", 1, 1},
    {"window_and_rate", 2, 2},
}};

const Row& row_of(ActionSet actions) { return kRows.at(static_cast<std::size_t>(actions)); }

std::array<double, 5> indigo_windows(double cwnd) { return {cwnd / 2, cwnd - 10, cwnd, cwnd + 10, cwnd * 2}; }

// The pacing rate of the set `rate` is kept as a window, rate * min RTT: a step of the rate scales that
// window.
double scaled_by_rate(double action, double cwnd) {
  return action < 0 ? cwnd / (1 - kRateStep * action) : cwnd * (1 + kRateStep * action);
}

// An action comes from outside: it has to be a number, and for indigo the index of a class.
void check_act(ActionSet actions, Act act) {
  const auto refuse = [act](const char* right) {
    throw std::invalid_argument("action " + std::to_string(act.value) + ": " + right + " would be right");
  };
  if (std::isnan(act.value) || std::isnan(act.rate_mbps)) refuse("a number");
  if (actions != ActionSet::indigo) return;
  const auto classes = static_cast<float>(output_count(actions));
  if (!(act.value >= 0 && act.value < classes && act.value == std::floor(act.value)))
    refuse("a class from 0 to 4");
}

float nearest_class(double cwnd, double ideal) {
  const std::array<double, 5> windows = indigo_windows(cwnd);
  const auto distance = [ideal](double window) { return std::abs(window - ideal); };
  return static_cast<float>(
      std::distance(windows.begin(), std::ranges::min_element(windows, std::less{}, distance)));
}

}  // namespace

ActionSet action_set_by_name(std::string_view name) {
  const auto found = std::ranges::find(kActionSets, name, action_set_name);
  if (found != kActionSets.end()) return *found;
  throw std::invalid_argument("unknown action set " + quoted(name) + ": known are " +
                              name_list(kActionSets, action_set_name));
}

std::string_view action_set_name(ActionSet actions) { return row_of(actions).name; }

std::size_t output_count(ActionSet actions) { return row_of(actions).outputs; }

std::size_t action_size(ActionSet actions) { return row_of(actions).numbers; }

bool is_absolute(ActionSet actions) {
  return actions == ActionSet::window || actions == ActionSet::window_and_rate;
}

Act choose_act(ActionSet actions, std::span<const float> outputs) {
  if (actions == ActionSet::window_and_rate) return {outputs[0], outputs[1]};
  if (actions != ActionSet::indigo) return outputs[0];
  return static_cast<float>(std::distance(outputs.begin(), std::ranges::max_element(outputs)));
}

double requested_window(ActionSet actions, Act act, double cwnd_packets) {
  check_act(actions, act);
  const double number = std::clamp(static_cast<double>(act.value), -1.0, 1.0);
  switch (actions) {
    case ActionSet::indigo:
      return indigo_windows(cwnd_packets).at(static_cast<std::size_t>(act.value));
    case ActionSet::log_window:
      return cwnd_packets * std::exp(number);
    case ActionSet::rate:
      return scaled_by_rate(number, cwnd_packets);
    case ActionSet::window:
    case ActionSet::window_and_rate:
      return static_cast<double>(act.value);
  }
  throw std::logic_error("an action set without a meaning");
}

float executed_act(ActionSet actions, Act act, double ratio) {
  if (actions != ActionSet::log_window) return act.value;
  return static_cast<float>(std::clamp(std::log(ratio), -1.0, 1.0));
}

float expert_act(ActionSet actions, double cwnd_packets, double ideal_packets) {
  if (actions == ActionSet::indigo) return nearest_class(cwnd_packets, ideal_packets);
  if (actions != ActionSet::log_window) {
    throw std::invalid_argument("no expert acts by " + std::string{action_set_name(actions)});
  }
  return static_cast<float>(
      std::clamp(std::log(std::max(ideal_packets - 0.5, 0.5) / cwnd_packets), -1.0, 1.0));
}

}  // namespace ccgym
