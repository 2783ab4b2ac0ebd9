// The first process inside: it sets the device up, starts the command and watches the program outside.
#pragma once

#include <string>
#include <vector>

namespace ccgym::tunnel {

// Runs as process 1 of its namespace, so that everything there ends with it; never returns. The settings
// come through `control`, a byte goes back once the device is up; its closing asks for the end.
[[noreturn]] void run_init(int control, const std::vector<std::string>& command);

}  // namespace ccgym::tunnel
