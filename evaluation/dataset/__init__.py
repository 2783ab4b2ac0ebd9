"""Flights of schemes as a Minari dataset."""
