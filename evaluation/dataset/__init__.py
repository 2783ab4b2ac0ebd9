"""Runs of schemes as a Minari dataset."""
