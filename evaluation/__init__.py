"""Runs head to head, what they measured, and the report."""
