#include "agents/controllers/fixed_window.hh"

#include <cmath>

namespace ccgym {

FixedWindow::FixedWindow(int64_t packet_bytes, double cwnd_packets)
    : cwnd_bytes_{std::llround(cwnd_packets * static_cast<double>(packet_bytes))} {}

}  // namespace ccgym
