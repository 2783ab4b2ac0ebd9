"""The worker processes of a Ray cluster on this machine, and their end."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE_S = 60.0


def workers_of(cluster: str) -> list[int]:
    """The worker processes of the cluster's machines."""
    listed = subprocess.run(
        ["ps", "-e", "-ww", "-o", "pid=,ppid=,args="],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    ).stdout
    rows = [line.split(maxsplit=2) for line in listed.splitlines()]
    machines = {pid for pid, _, args in rows if "/raylet" in args.split()[0] and cluster in args}
    at_work = ("ray::_call", "ray::IDLE")  # not the agents, with which a machine lives and dies
    return [int(pid) for pid, parent, args in rows if parent in machines and args.startswith(at_work)]


@contextmanager
def workers_killed(cluster: str, most: int) -> Iterator[list[int]]:
    """Meanwhile so many workers are killed, one after the other; the list grows with each."""
    killed: list[int] = []
    done = threading.Event()

    def kill_some() -> None:
        while len(killed) < most and not done.wait(0.02):
            for pid in workers_of(cluster)[:1]:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
                time.sleep(1)

    killer = threading.Thread(target=kill_some)
    killer.start()
    try:
        yield killed
    finally:
        done.set()
        killer.join(PATIENCE_S)
