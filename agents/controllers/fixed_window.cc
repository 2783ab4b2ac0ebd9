#include "agents/controllers/fixed_window.hh"

#include <cmath>

#include "agents/controllers/checked.hh"

namespace ccgym {

FixedWindow::FixedWindow(int64_t packet_bytes, const Config& config)
    : cwnd_bytes_{std::llround(checked("fixed: cwnd_packets", config.cwnd_packets, 1, 1e6) *
                               static_cast<double>(packet_bytes))} {}

}  // namespace ccgym
