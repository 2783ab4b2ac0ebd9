"""Imitation training: the learner runs, the oracle corrects."""
