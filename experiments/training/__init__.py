"""Whole trainings, repeated from several seeds."""
