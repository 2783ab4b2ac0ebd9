"""Imitation training: the learner flies, the oracle corrects."""
