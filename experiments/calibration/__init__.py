"""Whether calibration finds what is known."""
