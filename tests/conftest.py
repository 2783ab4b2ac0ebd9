"""What every test relies on."""

import signal


def pytest_configure() -> None:
    """Programs started by the tests can be interrupted, however the tests themselves were started.

    A shell without job control starts what it puts into the background with SIGINT ignored, and children
    would inherit that.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
