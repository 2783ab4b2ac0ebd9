"""The tiny training run of the tests of training/."""

from ccgym.tests.training.conftest import own_cache, tiny_config

__all__ = ["own_cache", "tiny_config"]
