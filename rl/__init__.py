"""Reinforcement learning: a policy tries, and what paid off becomes more likely."""
