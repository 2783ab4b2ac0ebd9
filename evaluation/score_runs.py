"""The runs of a score, inside the process in which a candidate runs."""

import hashlib
from pathlib import Path
from typing import Any

from ccgym.envs import _core
from ccgym.envs.errors import OutsideError
from ccgym.envs.outside_files import sha256_of
from ccgym.envs.specs.emulators import NamedEmulator, select_emulators

from .backends.twin_backend import TwinBackend
from .outside_schemes import try_out
from .run_files import RunFiles
from .schemes import Kind, Scheme
from .score import SECONDS, SEED
from .sessions import session
from .sessions.session import Plan, PlannedRun, run_planned

_NO_FILES = RunFiles(Path(), "", 1)


def run_part(job: dict[str, Any]) -> dict[str, Any]:
    """Runs the controllers, by name, over a part of the links.

    Raises:
        InputError: a controller or an emulator does not exist.
        OutsideError: a controller raised an exception.
    """
    emulators = select_emulators(job["emulators"])
    controllers: dict[str, str] = job["controllers"]
    for controller in controllers.values():
        try_out(controller)
    mine = range(job["part"], len(emulators), job["parts"])
    return {
        "version": _version(emulators),
        "links": [
            {
                "index": index,
                "emulator": emulators[index].label,
                "flown": {name: _measured(each, emulators[index]) for name, each in controllers.items()},
            }
            for index in mine
        ],
    }


def _measured(controller: str, emulator: NamedEmulator) -> dict[str, float]:
    scheme = Scheme("candidate", Kind.NATIVE, controller)
    plan = Plan([emulator], [scheme], 1, SECONDS, SEED, "twin", "")
    try:
        _, measured = run_planned(plan, PlannedRun(emulator, scheme, 1), _NO_FILES, TwinBackend())
    except (RuntimeError, MemoryError) as error:
        raise OutsideError(f"{error or type(error).__name__} (on {emulator.label})") from error
    throughput_mbps, p95_delay_ms = measured.total.compared
    return {
        "throughput_mbps": throughput_mbps,
        "p95_delay_ms": p95_delay_ms,
        "utilisation": measured.total.utilisation,
    }


def _version(emulators: list[NamedEmulator]) -> str:
    """A digest that changes when the links change, or the code that runs and measures over them."""
    folder = Path(session.__file__).parent.parent
    code = [Path(_core.__file__ or ""), Path(__file__), *sorted(folder.rglob("*.py"))]
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in code))
    for emulator in emulators:
        digest.update(f"{emulator.label} {emulator.spec.model_dump_json()}".encode())
        for link in (emulator.spec.uplink, emulator.spec.downlink):
            digest.update(sha256_of(link.trace, "the trace").encode() if link.trace else b"")
    return digest.hexdigest()
