"""A policy to run."""

from ccgym.tests.evaluation.conftest import write_policy

__all__ = ["write_policy"]
