"""`pantheon_metadata.json` of each emulator's folder: the keys that Pantheon's analysis reads."""

import platform
from collections.abc import Sequence

from ccgym.envs.errors import InputError
from ccgym.envs.mahimahi.shells import shell_command
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.evaluation.backends.tunnelled.remote_path import Network, RemotePathSpec

from .provenance import provenance


def pantheon_metadata(
    spec: Network, schemes: Sequence[str], *, runs: int, flows: int, interval_s: float, seconds: float
) -> dict[str, object]:
    """The metadata for runs of `seconds` over one emulator or path, `runs` of each scheme."""
    return {
        **(_remote_metadata(spec) if isinstance(spec, RemotePathSpec) else _local_metadata(spec)),
        "cc_schemes": list(schemes),
        "flows": flows,
        "interval": _whole(interval_s),
        "run_times": runs,
        "start_run_id": 1,
        "runtime": _whole(seconds),
        "random_order": True,
        "git_summary": provenance().get("git", ""),
    }


def _whole(seconds: float) -> float:
    """Seconds as Pantheon has them, whole: titles of its plots repeat the number as it is."""
    return int(seconds) if seconds == int(seconds) else seconds


def _local_metadata(spec: EmulatorSpec) -> dict[str, object]:
    try:
        command = shell_command(spec)
    except InputError:  # runs in the twin only: there are no shells to name
        command = ["mm-link", "uplink.trace", "downlink.trace"]
    link = command.index("mm-link")
    return {
        "mode": "local",
        "uplink_trace": command[link + 1],
        "downlink_trace": command[link + 2],
        "prepend_mm_cmds": " ".join(command[:link]),
        "extra_mm_link_args": " ".join(option for option in command[link + 3 :] if "-queue" in option),
    }


def _remote_metadata(spec: RemotePathSpec) -> dict[str, object]:
    return {
        "mode": "remote",
        "remote_path": spec.remote,
        "sender_side": "local" if spec.direction == "up" else "remote",
        "server_side": "remote",
        "local_desc": platform.node(),
        "remote_desc": spec.destination.rpartition("@")[2],
        **({"ntp_addr": spec.ntp} if spec.ntp else {}),
    }
