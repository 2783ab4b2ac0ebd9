"""The quick emulators of the tests of evaluation/."""

from ccgym.tests.evaluation.conftest import two_emulators, write_policy

__all__ = ["two_emulators", "write_policy"]
