"""Names the resource that the system has refused. Imports nothing: the system might refuse that as well."""

import errno

_LACKS = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN}
_ALSO_NO_MEMORY = ("failed to map segment", "can't allocate memory", "can't start new thread")
"""Messages of the dynamic loader, of PyTorch and of Python."""


def lack_of(error: BaseException) -> str:
    """Returns what the system has refused (memory, processes, files), or "" if the error is another one."""
    if isinstance(error, OSError) and error.errno in _LACKS:
        return error.strerror or "no memory"
    theirs = type(error) is RuntimeError or isinstance(error, ImportError)  # ours are of classes of their own
    refused = theirs and any(said in str(error) for said in _ALSO_NO_MEMORY)
    return "out of memory" if refused or isinstance(error, MemoryError) else ""
