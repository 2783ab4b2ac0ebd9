"""A network namespace in which flows of kernel TCP are what their congestion control makes of them."""

import subprocess
from pathlib import Path

from ccgym.envs.errors import OutsideError

SEND_BUFFER_BYTES = 64 * 2**20
"""Most that a flow may hold to be sent. With Linux's 4 MiB BBR at 115 Mbit/s and 90 ms runs out of data in
start-up, takes that for the application's limit and never ends start-up."""

FIRST_CONTROL = "reno"
"""Of a socket that was given no other yet. iperf3 chooses for sockets that are connected, and one that began
with BBR, where that is the host's choice, stays paced with every other control."""

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
