"""Ours beside an independent implementation or measurement of the same."""
