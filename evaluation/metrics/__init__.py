"""What runs measured: figures of flows, fairness, series over time, the leaderboard."""
