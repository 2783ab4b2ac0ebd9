"""The one kind of error that is the user's to mend."""


class InputError(ValueError):
    """A mistake in what the user gave. One line: where it is, what is wrong, what would be right."""
