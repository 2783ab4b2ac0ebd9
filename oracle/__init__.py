"""Ideal congestion windows, found in the twin."""
