"""Reinforcement learning: a policy explores, and actions with high rewards become more likely."""
