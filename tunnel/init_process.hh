// The init process of the tunnel's process namespace: it configures the device, starts the command, and ends
// when the program outside ends.
#pragma once

#include <string>
#include <vector>

namespace ccgym::tunnel {

// Runs as process 1 of its namespace, so that the kernel ends all other processes there with it; never
// returns. It reads Settings from the socket `control`, and writes a byte to it once the device is up. When
// the other end of `control` is closed, it ends all processes.
[[noreturn]] void run_init(int control, const std::vector<std::string>& command);

}  // namespace ccgym::tunnel
