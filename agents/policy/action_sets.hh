// The action sets: the numbers of an action, the window that it asks for, and the inverse for an expert.
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

// A class index or a number, see ActionSet; the second one of a set of two.
struct Act {
  Act(float first, float second = 0) : value{first}, rate_mbps{second} {}

  float value;
  float rate_mbps;
};

ActionSet action_set_by_name(std::string_view name);  // throws std::invalid_argument naming the known ones
std::string_view action_set_name(ActionSet actions);
std::size_t output_count(ActionSet actions);  // width of the network's output
std::size_t action_size(ActionSet actions);   // numbers in an action
bool is_absolute(ActionSet actions);          // the window it asks for does not depend on the present one
Act choose_act(ActionSet actions,
               std::span<const float> outputs);  // the action that a network's outputs stand for

// The window that an action asks for. Throws std::invalid_argument for an invalid action.
double asked_window(ActionSet actions, Act act, double cwnd_packets);

// The action that was carried out, if `act` was asked for and the window has changed by `ratio`.
float executed_act(ActionSet actions, Act act, double ratio);

// The inverse, the label of imitation: the act that brings a window of `cwnd_packets` nearest to
// `ideal_packets`.
//   indigo: the class whose outcome lies nearest; ties go to the lowest class, as in Indigo.
//   log_window: the logarithm of what leads there, within what one step may do. The sender rounds windows
//     up to whole packets: the aim is the middle of those that it rounds to the ideal one.
// Throws std::invalid_argument for the other sets.
float expert_act(ActionSet actions, double cwnd_packets, double ideal_packets);

}  // namespace ccgym
