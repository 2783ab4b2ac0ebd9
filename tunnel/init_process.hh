// The first process inside the tunnel: it sets up the device, starts the command, and watches for the end of
// the program outside.
#pragma once

#include <string>
#include <vector>

namespace ccgym::tunnel {

// Runs as process 1 of its namespace, so that everything there ends with it; never returns. It reads its
// settings from `control`, and writes a byte there once the device is up; when `control` is closed, it ends.
[[noreturn]] void run_init(int control, const std::vector<std::string>& command);

}  // namespace ccgym::tunnel
