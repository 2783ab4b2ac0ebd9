// The parts of the extension module ccgym.envs._core; bind_X is in X.cc.
#pragma once

#include <nanobind/nanobind.h>

namespace ccgym {

void bind_schedule(nanobind::module_& module);
void bind_traffic(nanobind::module_& module);
void bind_network(nanobind::module_& module);  // after the two above, whose classes it uses
void bind_controller(nanobind::module_& module);
void bind_simulate(nanobind::module_& module);
void bind_logs(nanobind::module_& module);
void bind_path_batch(nanobind::module_& module);
void bind_rollout(nanobind::module_& module);
void bind_policy(nanobind::module_& module);
void bind_learning(nanobind::module_& module);

}  // namespace ccgym
