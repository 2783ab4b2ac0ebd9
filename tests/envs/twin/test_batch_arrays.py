"""Which arrays a step of a batch takes: what it writes must be the caller's memory, never a copy of it."""

import math
from typing import Any

import numpy as np
import pytest
from ccgym.envs import _core
from ccgym.envs.specs.emulator_spec import EmulatorSpec, LinkSpec

ROWS = 2
COLUMNS = len(_core.TELEMETRY)


def _begun() -> tuple[Any, np.ndarray]:
    spec = EmulatorSpec.model_validate({"name": "link", "delay_ms": 20, "uplink": {"rate_mbps": 12.0}})
    batch = _core.PathBatch([spec.to_path()] * ROWS, features="indigo", actions="indigo")
    observations = np.zeros((ROWS, batch.observation_size), dtype=np.float32)
    batch.reset(np.arange(ROWS, dtype=np.int32), np.ones(ROWS, dtype=np.uint64), observations)
    return batch, observations


def _unaligned(shape: tuple[int, int], dtype: type, value: float) -> np.ndarray:
    size = np.dtype(dtype).itemsize * math.prod(shape)
    numbers: np.ndarray = np.zeros(size + 1, dtype=np.uint8)[1:].view(dtype).reshape(shape)
    numbers[...] = value
    assert not numbers.flags.aligned
    return numbers


def test_actions_are_taken_in_any_type_and_layout() -> None:
    wide = np.full((ROWS, 2), 3, dtype=np.float32)
    read_only = np.full((ROWS, 1), 3, dtype=np.float32)
    read_only.flags.writeable = False
    subclass = np.full((ROWS, 1), 3, dtype=np.float32).view(np.recarray)
    seen = []
    for actions in (
        *(read_only, wide[:, :1], _unaligned((ROWS, 1), np.float32, 3), subclass),
        *(np.full((ROWS, 1), 3.0), np.full((ROWS, 1), 3)),
    ):
        batch, observations = _begun()
        telemetry = np.zeros((ROWS, COLUMNS))
        batch.step(actions, observations, telemetry)
        seen.append((observations.tobytes(), telemetry.tobytes()))
    assert len(set(seen)) == 1


@pytest.mark.parametrize(("features", "flows"), [("raw", 1), ("indigo", 2)])
def test_a_state_of_other_features_or_learners_is_refused(features: str, flows: int) -> None:
    batch, _ = _begun()
    link = LinkSpec(rate_mbps=12.0).to_link()
    path = _core.Path(20, link, link, flows=[_core.Flow()] * flows)
    other = _core.PathBatch([path] * ROWS, features=features, actions="indigo")
    with pytest.raises(ValueError, match="other learners or features"):
        other.restore(batch.save())


@pytest.mark.parametrize(
    "telemetry",
    [
        np.zeros((ROWS, COLUMNS), dtype=np.float32),
        np.zeros((ROWS, COLUMNS), dtype=">f8"),
        np.zeros((ROWS, COLUMNS), dtype=np.int64),
        np.zeros((ROWS, COLUMNS), order="F"),
        np.zeros((ROWS, 2 * COLUMNS))[:, ::2],
        np.zeros(ROWS * COLUMNS),
        np.frombuffer(bytes(8 * ROWS * COLUMNS)).reshape(ROWS, COLUMNS),  # of bytes, which nobody may write
        [[0.0] * COLUMNS] * ROWS,
        None,
    ],
)
def test_what_a_step_cannot_write_in_place_is_refused(telemetry: Any) -> None:
    batch, observations = _begun()
    with pytest.raises(TypeError, match="incompatible function arguments"):
        batch.step(np.full((ROWS, 1), 2, dtype=np.float32), observations, telemetry)


def test_another_shape_is_told() -> None:
    batch, observations = _begun()
    with pytest.raises(ValueError, match=r"telemetry must have shape \(2, 12\)"):
        batch.step(np.full((ROWS, 1), 2, dtype=np.float32), observations, np.zeros((ROWS + 1, COLUMNS)))


def test_an_array_is_free_after_the_step() -> None:
    batch, observations = _begun()
    telemetry = np.zeros((ROWS, COLUMNS))
    batch.step(np.full((ROWS, 1), 2, dtype=np.float32), observations, telemetry)
    telemetry.resize((2 * ROWS, COLUMNS))  # numpy refuses where another holds it
