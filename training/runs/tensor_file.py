"""Files of tensors in PyTorch's format, written whole or not at all."""

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import torch


def save_tensors(state: Mapping[str, Any], file: Path) -> None:
    """Writes what `torch.load` reads, at once or not at all.

    Raises:
        OSError: it cannot be written, as on a full disk; PyTorch itself would raise an error of its archive.
    """
    content = BytesIO()
    torch.save(dict(state), content)
    temporary = file.with_suffix(".partial")
    try:
        temporary.write_bytes(content.getbuffer())
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(file)) from error  # a write knows no name
    temporary.replace(file)
