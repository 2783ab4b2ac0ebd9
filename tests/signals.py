"""Which signals a process hears."""

import signal
from pathlib import Path


def blocks_interrupts(pid: int | None) -> bool:
    """Before a process has come to what it does itself, this is what its parent has decided."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return bool(int(status["SigBlk"], 16) >> (signal.SIGINT - 1) & 1)
