"""The two kinds of error that a command answers with one line instead of a traceback."""


class InputError(ValueError):
    """A mistake in what the user gave. One line: where it is, what is wrong, what would be right."""


class OutsideError(RuntimeError):
    """Something beyond this program failed, a process or the network. One line: what, why, the mending."""
