// The part of the Python binding that is about policy files.
#pragma once

#include <nanobind/nanobind.h>

namespace ccgym {

void bind_policy(nanobind::module_& module);

}  // namespace ccgym
