// ccgym.envs._core: the emulator, its controllers and policies, for Python.
#include "envs/binding/bind.hh"

NB_MODULE(_core, module) {
  nanobind::set_leak_warnings(false);  // Python's caches hold schedules until the process ends
  module.doc() = "mahimahi in virtual time, the gym's batch engine, logs, policy files and their fitting.";
  ccgym::bind_schedule(module);
  ccgym::bind_traffic(module);
  ccgym::bind_network(module);
  ccgym::bind_controller(module);
  ccgym::bind_simulate(module);
  ccgym::bind_logs(module);
  ccgym::bind_path_batch(module);
  ccgym::bind_policy(module);
  ccgym::bind_rollout(module);
  ccgym::bind_learning(module);
}
