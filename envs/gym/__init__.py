"""The Gymnasium, vector, PettingZoo and stable-baselines3 environments over a path."""
