// Drops the privileges of the program after its set-up, because moving packets needs none.
#pragma once

namespace ccgym::tunnel {

// Throws InputError if the program is setuid or setgid.
void refuse_setuid();

// Irreversible: no capabilities, no longer root, no new privileges by execve, and not traceable by others.
// Throws std::system_error.
void drop_privileges();

}  // namespace ccgym::tunnel
