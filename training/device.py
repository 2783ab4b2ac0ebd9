"""Where networks are fitted: the processor, or a GPU."""

import torch
from ccgym.envs.errors import InputError

CPU = torch.device("cpu")
"""The default; only here the same seed gives the same bits."""


def device_of(text: str) -> torch.device:
    """`cpu`, `cuda` or `cuda:N`.

    Raises:
        InputError: this machine has no such device.
    """
    kind, _, number = text.partition(":")
    if kind == "cpu":
        return CPU
    found = torch.cuda.device_count()
    if int(number or 0) >= found:
        raise InputError(f"--device {text}: PyTorch finds {found} CUDA devices here; take cpu")
    return torch.device(text)
