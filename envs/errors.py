"""The two kinds of error that a command answers with one line instead of a traceback; what is in the line."""

import errno
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import PurePath
from typing import TypeGuard


class InputError(ValueError):
    """A mistake in what the user gave. One line: where it is, what is wrong, what would be right."""


class OutsideError(RuntimeError):
    """Something beyond this program failed, a process or the network. One line: what, why, the mending."""


def is_disk_full(error: BaseException) -> TypeGuard[OSError]:
    """No mistake in what the user gave, and none of ours: the same command is right once there is room."""
    # EFBIG: of one file, where a limit is set, as by `ulimit -f`.
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def is_of_system(error: BaseException) -> TypeGuard[OSError]:
    """The disk is full, or the system gives no more files, memory or processes: no mistake of the user's."""
    lacks = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)
    return is_disk_full(error) or (isinstance(error, OSError) and error.errno in lacks)


MOST_LISTED = 10
"""Names that an error lists: who has mistyped one seeks the nearest."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The question with the names nearest to one that is unknown; nothing when none is near."""
    near = get_close_matches(name[:80], list(known), n=3)
    return f", did you mean {' or '.join(near)}?" if near else ""


def excerpt(value: object, most: int = 80) -> str:
    """A few printable characters of what a user gave, however long it is, to be quoted; of a path the end."""
    is_path = isinstance(value, PurePath)
    text = _text(value)[-most - 1 :] if is_path else _text(value)[: most + 1]
    shown = "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
    if len(shown) <= most:
        return shown
    return f"...{shown[3 - most :]}" if is_path else f"{shown[: most - 3]}..."


def is_text(name: object) -> bool:
    """Whether a name is of whole characters: that of a file may not be, and C++ takes no other."""
    try:
        str(name).encode()
    except UnicodeEncodeError:
        return False
    return True


def _text(value: object) -> str:
    """What it says of itself; what users write may not be able to."""
    try:
        return str(value)
    except Exception:
        return f"a {type(value).__name__} without a text"


def one_line(message: str, most: int) -> str:
    """A message in so many printable characters: of a longer one the beginning and the end, the reason."""
    shown = excerpt(message, most)
    if not shown.endswith("...") or len(shown) < most:
        return shown
    end = excerpt(message[-most // 2 :], most)[-most // 2 :]
    return f"{shown[: most - len(end) - 3]}...{end}"
