"""Metrics of runs: figures of flows, fairness, time series, the leaderboard."""
