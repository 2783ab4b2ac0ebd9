"""Random emulators: reproducible, within their ranges, and of every kind."""

from collections import Counter

import numpy as np
import pytest
from ccgym.envs import _core
from ccgym.envs.errors import InputError
from ccgym.envs.specs.emulators import EmulatorSpec, select_emulators
from ccgym.envs.specs.random_emulators import (
    DELAY_MS,
    KINDS,
    MAX_LOSS,
    QUEUE_BDPS,
    RATE_MBPS,
    random_emulators,
)
from ccgym.envs.specs.splits import Split


def test_the_same_seed_draws_the_same_emulators() -> None:
    assert random_emulators(20, 3, Split.TEST) == random_emulators(30, 3, Split.TEST)[:20]
    assert random_emulators(20, 3, Split.TEST) != random_emulators(20, 4, Split.TEST)


def test_every_emulator_lies_in_the_ranges() -> None:
    for spec in random_emulators(500, 1, Split.TEST):
        link = spec.uplink
        assert link.rate_mbps is not None
        assert RATE_MBPS[0] <= link.rate_mbps <= RATE_MBPS[1]
        assert all(0 < step.rate_mbps <= RATE_MBPS[1] for step in link.rate_steps or ())
        assert DELAY_MS[0] <= spec.delay_ms <= DELAY_MS[1]
        assert link.loss <= MAX_LOSS
        if link.packets is not None:
            bdp_packets = link.rate_mbps * 2 * spec.delay_ms / 12
            assert QUEUE_BDPS[0] * bdp_packets - 1 <= link.packets <= max(1, QUEUE_BDPS[1] * bdp_packets + 1)


def kind_of(spec: EmulatorSpec) -> str:
    link = spec.uplink
    return "step" if link.rate_steps else "walk" if link.rate_walk else link.arrivals


def test_a_thousand_hold_every_kind_and_every_size() -> None:
    specs = random_emulators(1000, 2, Split.TEST)
    kinds = Counter(map(kind_of, specs))
    assert {kind: kinds[kind] / 1000 for kind in KINDS} == pytest.approx(KINDS, abs=0.05)
    assert np.mean([spec.uplink.queue == "infinite" for spec in specs]) == pytest.approx(0.3, abs=0.05)
    assert np.mean([spec.uplink.loss > 0 for spec in specs]) == pytest.approx(0.25, abs=0.05)
    assert np.mean([spec.downlink != spec.uplink.mirrored() for spec in specs]) == pytest.approx(
        0.2, abs=0.05
    )
    rates = np.log([spec.uplink.rate_mbps or 0 for spec in specs if kind_of(spec) in ("constant", "poisson")])
    counts, _ = np.histogram(rates, bins=10, range=tuple(np.log(RATE_MBPS)))
    assert counts.min() > 22  # log-uniform: 45 expected in each tenth


def test_every_kind_runs() -> None:
    for kind in KINDS:
        spec = next(spec for spec in random_emulators(100, 5, Split.TEST) if kind_of(spec) == kind)
        record = _core.simulate(spec.to_path(), "fixed:20", seconds=3, seed=1)
        assert record.delivered_packets > 0, kind


def test_a_selection_draws_them() -> None:
    selected = select_emulators("random:3")
    assert [emulator.label for emulator in selected] == ["random/1-0", "random/1-1", "random/1-2"]
    assert [emulator.spec for emulator in selected] == random_emulators(3, 1, Split.TEST)
    assert [emulator.spec for emulator in select_emulators("random:2:9")] == random_emulators(
        2, 9, Split.TEST
    )


@pytest.mark.parametrize(
    "selection", ["random:", "random:0", "random:x", "random:3:", "random:3:-1", "random:999999"]
)
def test_a_wrong_number_is_told(selection: str) -> None:
    with pytest.raises(InputError) as caught:
        select_emulators(selection)
    right = (
        "not random:N or random:N:SEED with N from 1 to 100000 and a whole SEED, "
        "nor random:train:N or random:validation:N"
    )
    assert str(caught.value) == f"{selection}: {right}"
