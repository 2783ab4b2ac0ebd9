// Python's Schedule: nanobind holds no pointer to const, so it is a handle.
#pragma once

#include <memory>

#include "envs/twin/schedule.hh"

namespace ccgym {

struct ScheduleHandle {
  std::shared_ptr<const Schedule> schedule;
};

}  // namespace ccgym
