"""Tests of the calibration on emulators that are known."""
