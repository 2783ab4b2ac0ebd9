"""Checks on random networks whether a scheme keeps what every controller promises."""

from dataclasses import dataclass

from ccgym.envs import _core

from .isolation import CandidateError, call_isolated
from .schemes import select_native

SEEDS = (1, 2, 3, 4, 5)
"""Of the random networks."""
TIMEOUT_S = 120.0
ENDS_WELL = "it raises no exception, and neither crashes nor hangs"


@dataclass(frozen=True)
class Promise:
    """One promise, and whether it was kept."""

    text: str
    breach: str = ""
    """When and how it was broken; empty: it was kept."""
    unchecked: str = ""
    """Why it could not be checked; empty: it was."""


def check_scheme(scheme: str, timeout_s: float = TIMEOUT_S) -> list[Promise]:
    """Checks the promises of a scheme that runs in the twin, in a process of its own.

    Raises:
        InputError: there is no such scheme.
    """
    controller = select_native(scheme)
    try:
        rows = call_isolated(f"{__name__}:check_controller", controller, timeout_s)
    except CandidateError as error:
        return [Promise(ENDS_WELL, str(error))]
    return [Promise(ENDS_WELL), *(Promise(*row) for row in rows)]


def check_controller(controller: str) -> list[tuple[str, str, str]]:
    """For every promise: its text, how it was first broken, and why it was not checked."""
    rows: dict[str, tuple[str, str]] = {}
    for seed in SEEDS:
        for text, breach, unchecked in _core.check_promises(controller, seed=seed):
            if not rows.get(text, ("",))[0]:
                rows[text] = (breach and f"network {seed}, {breach}", unchecked)
    return [(text, *row) for text, row in rows.items()]
