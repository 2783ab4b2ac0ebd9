"""Checks of what real mahimahi and kernel TCP need of this machine, each with the command that mends it."""

import ctypes
import re
import shlex
import shutil
import stat
import struct
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from ccgym.envs.errors import InputError, OutsideError
from ccgym.envs.mahimahi.shell_starts import until_shells_stand
from ccgym.envs.mahimahi.start_lock import start_lock

from .host_user import HostUser
from .process_group import ProcessGroup
from .program_output import program_output
from .scheduling_priority import NICENESS, SchedulingPriority, scheduling_priority

SHELLS = ("mm-delay", "mm-link", "mm-loss")
CONGESTION_CONTROLS = ("reno", "bbr", "cubic")
FIRST_REFUSING_IPTABLES = (1, 8, 8)
"""From here on libxtables refuses to run in a setuid program, which the shells of mahimahi 0.98 are."""

TRIAL_S = 60.0
"""Time limit of a program that is only queried or tried."""

CLOCK_TRIAL_S = 0.2
MAX_CLOCK_STEP_S = 0.001

_IPV4 = Path("/proc/sys/net/ipv4")
_TUN = Path("/dev/net/tun")
_ETC = Path(__file__).resolve().parents[2] / "etc"


@dataclass(frozen=True)
class Check:
    """The result of one check."""

    name: str
    ok: bool
    found: str
    """What was found, or what is wrong."""
    needed_for: str
    mend: str = ""
    """The command that mends it; empty when all is well."""


def check_host() -> list[Check]:
    """All checks, in the order in which to mend failures."""
    return [*check_mahimahi_needs(), *check_kernel_tcp(), check_scheduling_priority(), check_clocks()]


def check_mahimahi_needs() -> list[Check]:
    """The checks of what the shells need, and last whether one really starts."""
    trial = check_shell_starts()
    return [check_shells(), check_iptables(trial.ok), check_user(), check_tun(), check_forwarding(), trial]


def check_shells() -> Check:
    """The programs of mahimahi are there, and have the rights they need."""
    name, needed_for = "mahimahi", "real mahimahi"
    for program in SHELLS:
        path = shutil.which(program)
        if path is None:
            return Check(name, False, f"{program} not found", needed_for, install_command("mahimahi"))
        status = Path(path).stat()
        if status.st_uid != 0 or not status.st_mode & stat.S_ISUID:
            mend = f"sudo chown root {path} && sudo chmod u+s {path}"
            return Check(name, False, f"{path} is not a setuid program of root", needed_for, mend)
    return Check(name, True, _package_version("mahimahi"), needed_for)


def check_iptables(shell_starts: bool) -> Check:
    """The shells can use iptables. A newer one is fine where `shell_starts`: later mahimahis get along."""
    name, needed_for, mend = "iptables", "real mahimahi", install_command("mahimahi")
    path = shutil.which("iptables") or shutil.which("iptables", path="/usr/sbin:/sbin")
    if path is None:
        return Check(name, False, "not found", needed_for, mend)
    version = _first_version(program_output([path, "--version"]))
    if version >= FIRST_REFUSING_IPTABLES and not shell_starts:
        found = f"{_dotted(version)}: from {_dotted(FIRST_REFUSING_IPTABLES)} on it refuses setuid programs"
        return Check(name, False, found, needed_for, mend)
    return Check(name, True, _dotted(version), needed_for)


def check_user() -> Check:
    """There is a user without special rights to run the shells as, and the program to become that user."""
    name, needed_for = "user", "real mahimahi"
    try:
        user = HostUser.unprivileged()
    except InputError as error:
        return Check(name, False, str(error), needed_for, "sudo useradd --system ccgym, then: su ccgym")
    argv = user.command(["true"])
    if shutil.which(argv[0]) is None:
        return Check(name, False, f"{argv[0]} not found", needed_for, "sudo apt-get install util-linux")
    return Check(name, True, f"shells run as user id {user.uid}", needed_for)


def check_tun(device: Path = _TUN) -> Check:
    """The kernel gives out TUN interfaces."""
    name, needed_for = "tun", "real mahimahi"
    if not device.is_char_device():
        mend = f"sudo sh -c 'modprobe tun || {{ mkdir -p {device.parent} && mknod {device} c 10 200; }}'"
        return Check(name, False, f"{device} is missing", needed_for, mend)
    return Check(name, True, str(device), needed_for)


def check_forwarding(ipv4: Path = _IPV4) -> Check:
    """The kernel forwards between the shells' interfaces and the outside."""
    forwarding = (ipv4 / "ip_forward").read_text().strip()
    found = f"net.ipv4.ip_forward = {forwarding}"
    if forwarding != "1":
        return Check("ip_forward", False, found, "real mahimahi", "sudo sysctl -w net.ipv4.ip_forward=1")
    return Check("ip_forward", True, found, "real mahimahi")


def check_shell_starts() -> Check:
    """A shell really starts, does something and ends.

    One that hangs is tried once more: of some 1,500 starts in tests on a busy machine, 5 never ended, and the
    next one did each time. The cause was not found.
    """
    name, needed_for = "shell", "real mahimahi"
    mend = "mend the other lines first; what the shell says is an error of mahimahi itself"
    try:
        try:
            until_shells_stand(_try_shell)
        except OutsideError:
            until_shells_stand(_try_shell)
    except (InputError, OutsideError, OSError) as error:
        return Check(name, False, str(error), needed_for, mend)
    return Check(name, True, "mm-delay started and ended", needed_for)


def _try_shell() -> None:
    """Raises OutsideError: the shell failed, with its message, or does not end."""
    with tempfile.TemporaryDirectory(prefix="ccgym-trial-") as folder:
        argv = HostUser.unprivileged().command(["mm-delay", "1", "true"])
        program = Path(shutil.which("mm-delay") or "mm-delay")
        with start_lock(program), ProcessGroup(argv, Path(folder), "mm-delay") as trial:
            if trial.wait(TRIAL_S) != 0:
                raise OutsideError(trial.complaint())


def check_kernel_tcp(ipv4: Path = _IPV4) -> list[Check]:
    """The checks of what runs the kernel's own congestion controls."""
    needed_for = "kernel TCP"
    path = shutil.which("iperf3")
    if path is None:
        iperf3 = Check("iperf3", False, "not found", needed_for, install_command("iperf3"))
    else:
        iperf3 = Check(
            "iperf3", True, _dotted(_first_version(program_output([path, "--version"]))), needed_for
        )
    return [iperf3, _check_available(ipv4, needed_for), _check_allowed(ipv4, needed_for)]


def _controls(file: Path) -> list[str]:
    """None where the kernel does not say, as in a container."""
    try:
        return file.read_text().split()
    except FileNotFoundError:
        return []


def _check_available(ipv4: Path, needed_for: str) -> Check:
    name, available = "available", _controls(ipv4 / "tcp_available_congestion_control")
    missing = [control for control in CONGESTION_CONTROLS if control not in available]
    if missing:
        mend = "sudo modprobe --all " + " ".join(f"tcp_{control}" for control in missing)
        return Check(name, False, f"the kernel has no {', '.join(missing)}", needed_for, mend)
    return Check(name, True, "kernel has " + " ".join(available), needed_for)


def _check_allowed(ipv4: Path, needed_for: str) -> Check:
    name, allowed = "allowed", _controls(ipv4 / "tcp_allowed_congestion_control")
    missing = [control for control in CONGESTION_CONTROLS if control not in allowed]
    if missing:
        wanted = " ".join([*allowed, *missing])
        mend = f'sudo sysctl -w net.ipv4.tcp_allowed_congestion_control="{wanted}"'
        return Check(name, False, f"only root may use {', '.join(missing)}", needed_for, mend)
    return Check(name, True, "every user may use " + " ".join(allowed), needed_for)


def check_scheduling_priority() -> Check:
    """Whether other programs may delay those that must be on time: reported, but no failure."""
    found = {
        SchedulingPriority.REAL_TIME: "shells and programs of flows are ahead of all others: SCHED_RR",
        SchedulingPriority.NICE: f"no SCHED_RR: on a busy machine shells are ms late (nice {NICENESS})",
        SchedulingPriority.NONE: "none but for root: on a busy machine shells are tens of ms late",
    }
    return Check(
        "scheduling priority", True, found[scheduling_priority()], "delays measured in real mahimahi"
    )


def check_clocks() -> Check:
    """The wall clock, which stamps mahimahi's packets, runs as the monotonic one; is it synchronised?"""
    name, needed_for = "clocks", "delays measured in real mahimahi"
    step_s = abs(_clock_step_s(CLOCK_TRIAL_S))
    if step_s > MAX_CLOCK_STEP_S:
        found = f"the wall clock stepped by {1000 * step_s:.1f} ms within {CLOCK_TRIAL_S} s"
        return Check(
            name, False, found, needed_for, "timedatectl timesync-status, then wait until it settles"
        )
    unsynchronised = "not synchronised, which only matters between two machines"
    state = "synchronised" if _clock_is_synchronised() else unsynchronised
    return Check(name, True, f"steady, {state}", needed_for)


def _clock_step_s(duration_s: float) -> float:
    before_s = time.time() - time.monotonic()
    time.sleep(duration_s)
    return time.time() - time.monotonic() - before_s


def _clock_is_synchronised() -> bool:
    """adjtimex(2): its struct timex has the status at byte 40, whose bit STA_UNSYNC is 0x40."""
    timex = ctypes.create_string_buffer(256)
    if ctypes.CDLL(None).adjtimex(timex) < 0:
        return False
    (status,) = struct.unpack_from("i", timex, 40)
    return not status & 0x40


def install_command(package: str) -> str:
    """Installs a Debian package, by the project's own script where this is a clone."""
    script = _ETC / "install-system-packages.sh"
    return f"sudo {shlex.quote(str(script))}" if script.exists() else f"sudo apt-get install {package}"


def _package_version(package: str) -> str:
    if shutil.which("dpkg-query") is None:
        return "version unknown"
    return program_output(["dpkg-query", "-W", "-f", "${Version}", package]).strip() or "version unknown"


def _first_version(text: str) -> tuple[int, ...]:
    found = re.search(r"\d+(\.\d+)+", text)
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version)) or "version unknown"
