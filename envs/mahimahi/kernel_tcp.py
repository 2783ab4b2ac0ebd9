"""A network namespace in which flows of kernel TCP are what their congestion control makes of them."""

from pathlib import Path

from ccgym.envs.host.program_output import program_output

SEND_BUFFER_BYTES = 64 * 2**20
"""Most that a flow may hold to be sent. With Linux's 4 MiB BBR at 115 Mbit/s and 90 ms runs out of data in
start-up, takes that for the application's limit and never ends start-up."""

FIRST_CONTROL = "reno"
"""Of a socket that was given no other yet. iperf3 chooses for sockets that are connected, and one that began
with BBR, where that is the host's choice, stays paced with every other control."""


def settle_kernel_tcp(namespace: Path) -> None:
    """For the flows of this namespace alone; takes root."""
    inside = ["nsenter", f"--net={namespace}", "sysctl"]
    least, usual, _ = program_output([*inside, "-n", "net.ipv4.tcp_wmem"]).split()
    settings = [
        f"net.ipv4.tcp_wmem={least} {usual} {SEND_BUFFER_BYTES}",
        f"net.ipv4.tcp_congestion_control={FIRST_CONTROL}",
    ]
    program_output([*inside, "-q", "-w", *settings])
