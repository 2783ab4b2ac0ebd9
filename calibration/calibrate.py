"""From a target to the files of its emulator."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.evaluation.run_files import replaced_text
from ccgym.evaluation.sessions.executors import open_executor

from .answer import CUT_SHORT, Answer, answer_of
from .candidate import Candidate, Restriction
from .plot import draw_replication
from .replication import Replicator
from .search import Search
from .target import Target


def storage_of(out: Path) -> Path:
    """The file in which the search for `out` is kept."""
    return out.with_suffix(".search")


def calibrate(
    target: Target,
    storage: Path,
    minutes: float,
    report: Callable[[int, float, Candidate], None],
    restriction: Restriction | None = None,
    ray_address: str | None = None,
) -> tuple[Answer, bool]:
    """The answer of a search, and whether it ran to its end; if not, it is from what was tried so far.

    Raises:
        KeyboardInterrupt: nothing was tried yet.
    """
    search, whole = Search(target, storage, minutes, report, restriction or Restriction(), ray_address), True
    try:
        search.run()
    except KeyboardInterrupt:
        if not search.tried:
            raise
        whole, search.limit.cut_short = False, True
    with open_executor(ray_address) as executor:
        return answer_of(search, Replicator(target, executor)), whole


def calibrate_whole(
    target: Target, storage: Path, minutes: float, report: Callable[[int, float, Candidate], None]
) -> Answer:
    """The answer of a search that was not interrupted, for callers that keep what they derive from it.

    Raises:
        KeyboardInterrupt: it was; what was tried is found by the next one.
    """
    answer, whole = calibrate(target, storage, minutes, report)
    if not whole:
        raise KeyboardInterrupt
    return answer


def emulator_name(target: Target) -> str:
    """The target's name as an emulator may be called."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", target.name).strip("-._") or "path"


def found_spec(answer: Answer, target: Target) -> EmulatorSpec:
    """The emulator that was found."""
    return answer.candidate.spec(emulator_name(target))


def posterior_of(out: Path) -> Path:
    """The file of the ensemble of emulators that fit as well as that of `out`."""
    return out.parent / f"{out.stem}.posterior.yaml"


def files_of(out: Path) -> list[Path]:
    """All that a calibration writes for `out`."""
    beside = [out.with_suffix(suffix) for suffix in (".json", ".svg")]
    return [out, *beside, posterior_of(out), storage_of(out)]


def _entry(candidate: Candidate, name: str) -> dict[str, Any]:
    """As an emulator file has it."""
    has_downlink = candidate.ack_mbps is not None or len(candidate.traces) > 1
    entry = candidate.spec(name).model_dump(
        mode="json", exclude_defaults=True, exclude=set() if has_downlink else {"downlink"}
    )
    return entry | {"delay_ms": candidate.delay_ms}


def write_answer(answer: Answer, target: Target, out: Path) -> None:
    """Writes the emulator to `out`; beside it the whole answer as JSON, the picture and the posterior."""
    entry = _entry(answer.candidate, emulator_name(target))
    with replaced_text(posterior_of(out)) as stream:
        stream.write("# Emulators that fit within the spread of the runs, each as often as it does.\n")
        entries = [
            _entry(candidate, f"{entry['name']}-{number}")
            for number, candidate in enumerate(answer.posterior, 1)
        ]
        yaml.safe_dump({"emulators": entries}, stream, sort_keys=False)
    with replaced_text(out) as stream:
        stream.write(
            f"# Replicates {len(answer.schemes)} schemes with a mean error of {100 * answer.error:.1f} %; "
            f"of a scheme that is left out: {100 * answer.left_out_error:.1f} %.\n"
        )
        for name, reason in answer.undetermined.items():
            stream.write(f"# {name} is not determined: {reason}.\n")
        if answer.cut_short:
            stream.write(f"# {CUT_SHORT}.\n")
        yaml.safe_dump({"emulators": [entry]}, stream, sort_keys=False)
    with replaced_text(out.with_suffix(".json")) as stream:
        json.dump(answer.as_json(), stream, indent=1)
        stream.write("\n")
    draw_replication(answer, target.name, out.with_suffix(".svg"))
