"""What every trainer shares: task distribution, run directory, evaluation rollouts, monitoring, plots."""
