"""The two kinds of error that a command reports in one line instead of a traceback, and parts of the line."""

import errno
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import PurePath
from typing import TypeGuard


class InputError(ValueError):
    """A mistake in the user's input. The message is one line: where, what is wrong, what would be right."""


class OutsideError(RuntimeError):
    """A process or the network, outside this program, failed. One line: what, why, how to mend it."""


def is_disk_full(error: BaseException) -> TypeGuard[OSError]:
    """Whether the disk is full: no mistake of the user's and no bug; the command works once there is room."""
    # EFBIG: a limit on the size of a file, as by `ulimit -f`.
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def is_of_system(error: BaseException) -> TypeGuard[OSError]:
    """Whether the disk is full, or the system gives no more files, memory or processes."""
    lacks = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)
    return is_disk_full(error) or (isinstance(error, OSError) and error.errno in lacks)


MOST_LISTED = 10
"""Most names that an error lists; for a mistyped name, `did_you_mean` gives the nearest."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question with the known names nearest to an unknown one; empty if none is near."""
    near = get_close_matches(name[:80], list(known), n=3)
    return f", did you mean {' or '.join(near)}?" if near else ""


def excerpt(value: object, most: int = 80) -> str:
    """The user's input for a quotation, in at most `most` printable characters; of a path, its end."""
    is_path = isinstance(value, PurePath)
    text = _text(value)[-most - 1 :] if is_path else _text(value)[: most + 1]
    shown = "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
    if len(shown) <= most:
        return shown
    return f"...{shown[3 - most :]}" if is_path else f"{shown[: most - 3]}..."


def is_text(name: object) -> bool:
    """Whether a name is valid Unicode: the name of a file need not be, but C++ takes no other."""
    try:
        str(name).encode()
    except UnicodeEncodeError:
        return False
    return True


def _text(value: object) -> str:
    """`str(value)`; the user's own class may raise an exception there."""
    try:
        return str(value)
    except Exception:
        return f"a {type(value).__name__} without a text"


def one_line(message: str, most: int) -> str:
    """A message in at most `most` printable characters; of a longer one, beginning and end (the reason)."""
    shown = excerpt(message, most)
    if not shown.endswith("...") or len(shown) < most:
        return shown
    end = excerpt(message[-most // 2 :], most)[-most // 2 :]
    return f"{shown[: most - len(end) - 3]}...{end}"
