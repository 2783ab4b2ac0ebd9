"""Settings of a network namespace by which only congestion control limits flows of kernel TCP."""

import subprocess
from pathlib import Path

from ccgym.envs.errors import OutsideError

SEND_BUFFER_BYTES = 64 * 2**20
"""Largest send buffer of a flow. With Linux's 4 MiB, BBR at 115 Mbit/s and 90 ms runs out of data in
start-up, takes that for a limit of the application and never ends start-up."""

FIRST_CONTROL = "reno"
"""Congestion control of a socket that has been given no other yet. iperf3 chooses for sockets that are
connected, and one that began with BBR, where that is the host's default, stays paced with every other
control."""

_SETTLE_S = 10.0
_SETTLE = f"""set -e
cd /proc/sys/net/ipv4
bounds=$(cat tcp_wmem)
set -- $bounds
echo "$1 $2 {SEND_BUFFER_BYTES}" >tcp_wmem
echo {FIRST_CONTROL} >tcp_congestion_control
"""
"""By the shell alone: sysctl is not on every machine."""


def settle_kernel_tcp(namespace: Path) -> None:
    """For the flows of this namespace alone; takes root.

    Raises:
        OutsideError: the settings cannot be read or written there.
    """
    command = ["nsenter", f"--net={namespace}", "sh", "-c", _SETTLE]
    try:
        subprocess.run(command, capture_output=True, text=True, timeout=_SETTLE_S, check=True)
    except subprocess.CalledProcessError as error:
        reason = (error.stderr.strip().splitlines() or ["no message"])[-1]
    except (OSError, subprocess.TimeoutExpired) as error:
        reason = str(error)
    else:
        return
    raise OutsideError(f"cannot set /proc/sys/net/ipv4 in the shell, for kernel TCP: {reason}")
