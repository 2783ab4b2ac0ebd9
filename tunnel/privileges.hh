// Drops the rights of the program after its set-up: it may only move packets then.
#pragma once

namespace ccgym::tunnel {

// Throws InputError if the program has more rights than its caller, as with set-uid.
void refuse_setuid();

// Irreversible: no capabilities, and no longer root.
void drop_privileges();

}  // namespace ccgym::tunnel
