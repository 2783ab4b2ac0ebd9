"""Ideal congestion windows, found in the twin."""

from ccgym.agents.arithmetic import pin_arithmetic

pin_arithmetic()
