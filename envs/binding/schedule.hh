// The class Schedule of Python: a handle, because nanobind cannot hold a pointer to a const object.
#pragma once

#include <memory>

#include "envs/twin/schedule.hh"

namespace ccgym {

struct ScheduleHandle {
  std::shared_ptr<const Schedule> schedule;
};

}  // namespace ccgym
