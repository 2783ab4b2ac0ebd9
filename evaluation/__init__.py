"""Head-to-head runs, their metrics, and the report."""
