"""Uplink logs that the real mm-link of mahimahi 0.98 has written, over a trace of one opportunity per ms.

`droptail` and `drophead`: UDP with random gaps over a queue of 50 packets; `codel`: the same, of 500;
`kernel_tcp`: the kernel's BBR in mm-delay 20, over a droptail queue of 30.
"""

import lzma
from pathlib import Path

_FOLDER = Path(__file__).with_name("mahimahi_logs")


def real_log(name: str, folder: Path) -> Path:
    """Unpacks a log into `folder`."""
    path = folder / f"{name}.log"
    path.write_bytes(lzma.decompress((_FOLDER / f"{name}.log.xz").read_bytes()))
    return path
