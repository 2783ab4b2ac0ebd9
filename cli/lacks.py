"""What the system may refuse; told without an import, which it might refuse as well."""

import errno

_LACKS = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN}
_ALSO_NO_MEMORY = ("failed to map segment", "can't allocate memory", "can't start new thread")
"""Said by the loader of libraries, by PyTorch, by Python."""


def lack_of(error: BaseException) -> str:
    """What the system has refused: memory, processes, files; nothing where that is not what went wrong."""
    if isinstance(error, OSError) and error.errno in _LACKS:
        return error.strerror or "no memory"
    refused = isinstance(error, ImportError | RuntimeError) and any(
        said in str(error) for said in _ALSO_NO_MEMORY
    )
    return "out of memory" if refused or isinstance(error, MemoryError) else ""
