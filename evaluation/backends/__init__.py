"""Where a run is flown: the twin, real mahimahi, tunnels, real paths."""
