"""What every trainer shares: task distribution, run directory, evaluation rollouts, monitoring, plots."""

from ccgym.agents.arithmetic import pin_arithmetic

pin_arithmetic()
