"""Whole trainings, repeated: from several seeds, or with other settings."""
