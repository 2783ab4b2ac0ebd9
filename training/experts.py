"""The expert: our oracle, or one of your own as `oracle=my.module:NAME`."""

from typing import Any

import numpy as np
from ccgym.envs.errors import InputError
from ccgym.envs.import_strings import load_object, telling
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.oracle.ideal import ideal_windows
from numpy.typing import NDArray


def expert_windows(oracle: str, spec: EmulatorSpec, preference: float, steps: int) -> NDArray[np.float64]:
    """Ideal windows in packets, (steps,), at the times 5, 15, 25, ... ms of a flow that is alone on its path.

    Args:
        oracle: `my.module:NAME` of a function of the next three; empty: ours.
        spec: the path.
        preference: from low delay (0) to full throughput (1).
        steps: of 10 ms.

    Raises:
        InputError: it raises, or gives something else than `steps` numbers above 0.
    """
    if not oracle:
        return ideal_windows(spec, preference, steps)
    windows = load_object(oracle, "oracle")
    with telling(f"oracle: {oracle}"):
        given = np.asarray(windows(spec, preference, steps))
        numbers = given.real.astype(np.float64)
    if given.shape != (steps,) or np.iscomplexobj(given) or not ((numbers > 0) & np.isfinite(numbers)).all():
        raise InputError(
            f"oracle: {oracle} gave {_wrong(given, steps)} for {spec.name}, should give {steps} windows in "
            "packets, numbers above 0"
        )
    return numbers


def _wrong(given: NDArray[Any], steps: int) -> str:
    if given.shape != (steps,):
        return f"shape {given.shape}"
    return "complex numbers" if np.iscomplexobj(given) else "NaN, infinity, or 0 and less"
