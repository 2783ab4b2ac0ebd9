// The action sets: what the numbers of an action mean, the window that it requests, and the inverse: the
// action of an expert who wants a certain window.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace ccgym {

enum class ActionSet {
  indigo,      // 5 classes: cwnd /2, -10, +0, +10, *2 packets (Indigo: Pantheon paper, section 6)
  log_window,  // one real number y: cwnd *= exp(clip(y, -1, 1))
  rate,        // one real number a, cut to [-1, 1]: the pacing rate *= 1 + 0.025 a, or /= 1 - 0.025 a for
               // a < 0 (Aurora: Jay et al., ICML 2019, section 3.1)
  window,      // the window in packets
  window_and_rate,  // the window in packets and the pacing rate in Mbit/s
};

inline constexpr std::array kActionSets{ActionSet::indigo, ActionSet::log_window, ActionSet::rate,
                                        ActionSet::window, ActionSet::window_and_rate};

// An action: a class index or a number, as ActionSet says. `rate_mbps` belongs to window_and_rate only.
struct Act {
  Act(float first, float second = 0) : value{first}, rate_mbps{second} {}

  float value;
  float rate_mbps;
};

ActionSet action_set_by_name(std::string_view name);  // throws std::invalid_argument naming the known ones
std::string_view action_set_name(ActionSet actions);
std::size_t output_count(ActionSet actions);  // width of the network's output
std::size_t action_size(ActionSet actions);   // numbers in an action
bool is_absolute(ActionSet actions);          // whether actions set the window, not a change of it

// The action that a network chooses: the class with the largest output, or the outputs themselves. `outputs`
// has output_count() entries.
Act choose_act(ActionSet actions, std::span<const float> outputs);

// The window in packets that an action requests while the window is `cwnd_packets`. Throws
// std::invalid_argument for an invalid action.
double requested_window(ActionSet actions, Act act, double cwnd_packets);

// The action that was carried out, if `act` was requested and the window has changed by the factor `ratio`.
float executed_act(ActionSet actions, Act act, double ratio);

// The label in imitation learning: the action that brings a window of `cwnd_packets` nearest to
// `ideal_packets`.
//   indigo: the class that leads to the nearest window; of equals the lowest class, as in Indigo.
//   log_window: the logarithm of the ratio of the two windows, cut to [-1, 1]. The sender rounds
//   windows up to whole packets; the target is ideal_packets - 0.5, in the middle of those that become the
//   ideal one.
// Throws std::invalid_argument for the other sets.
float expert_act(ActionSet actions, double cwnd_packets, double ideal_packets);

}  // namespace ccgym
