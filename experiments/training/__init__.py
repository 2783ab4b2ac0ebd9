"""Repeats whole trainings from several seeds or with other settings."""
