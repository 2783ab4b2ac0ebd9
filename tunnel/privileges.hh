// What the program may do once everything is set up: nothing but move packets.
#pragma once

namespace ccgym::tunnel {

// Throws InputError when the program runs with more rights than who called it.
void refuse_setuid();

// For good: no capabilities, and no longer root.
void drop_privileges();

}  // namespace ccgym::tunnel
