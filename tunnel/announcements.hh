// The lines on stdout by which an end announces that it listens, and that it is connected.
#pragma once

#include <cstdint>
#include <string_view>

#include "tunnel/connection.hh"
#include "tunnel/options.hh"

namespace ccgym::tunnel {

// A server's `options.addresses` must be set.
void announce_listening(const Options& options, uint16_t port);
void announce_connected(const Options& options, const Connection& connection, std::string_view device);

}  // namespace ccgym::tunnel
