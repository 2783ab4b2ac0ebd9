// Loads the shared library of a controller in C: see ccgym/controller.h.
#pragma once

#include <memory>
#include <string>

#include "agents/include/ccgym/controller.h"

namespace ccgym {

// The functions of a library, which is unloaded when the last pointer to them is gone: loading it again
// resets its global variables. Throws std::invalid_argument if the file is no library, exports no
// ccgym_controller, or is made for another CCGYM_CONTROLLER_VERSION.
std::shared_ptr<const ccgym_controller_table> load_controllers(const std::string& file);

// Throws std::invalid_argument: "so:FILE: why".
[[noreturn]] void refuse_library(const std::string& file, const std::string& why);

}  // namespace ccgym
