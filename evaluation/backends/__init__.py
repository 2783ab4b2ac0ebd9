"""Where a run takes place: the twin, real mahimahi, tunnels, real paths."""
