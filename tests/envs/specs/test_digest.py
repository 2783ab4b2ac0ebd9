"""A digest is of what the path is, not of its name, of a draw on it or of where its trace lies."""

from pathlib import Path

import pytest
from ccgym.envs.errors import InputError
from ccgym.envs.specs.digest import drawn_digest, spec_digest
from ccgym.envs.specs.emulators import EmulatorSpec, LinkSpec


def poisson(name: str, rate_mbps: float, seed: int) -> EmulatorSpec:
    return EmulatorSpec(
        name=name, delay_ms=28, uplink=LinkSpec(rate_mbps=rate_mbps, arrivals="poisson", seed=seed)
    )


def traced(file: Path, content: str) -> EmulatorSpec:
    file.write_text(content)
    return EmulatorSpec(name="traced", delay_ms=28, uplink=LinkSpec(trace=file))


def test_another_name_or_draw_is_the_same_link_another_rate_is_not() -> None:
    assert spec_digest(poisson("a", 3, 1)) == spec_digest(poisson("b", 3, 2))
    assert spec_digest(poisson("a", 3, 1)) != spec_digest(poisson("a", 3.1, 1))


def test_the_digest_of_a_draw_tells_seeds_and_beginnings_apart() -> None:
    one = poisson("a", 3, 1)
    assert drawn_digest(one) == drawn_digest(poisson("b", 3, 1))
    assert drawn_digest(one) != drawn_digest(poisson("a", 3, 2))
    assert drawn_digest(one) != drawn_digest(one.drawn(1))
    assert spec_digest(one) == spec_digest(one.drawn(1))


def test_what_is_given_by_default_may_as_well_be_given() -> None:
    given = EmulatorSpec.model_validate(
        {"name": "a", "delay_ms": 28, "uplink": {"rate_mbps": 3, "loss": 0.0, "queue": "infinite"}}
    )
    assert spec_digest(given) == spec_digest(
        EmulatorSpec(name="a", delay_ms=28, uplink=LinkSpec(rate_mbps=3))
    )


def test_a_trace_counts_by_its_content(tmp_path: Path) -> None:
    here = spec_digest(traced(tmp_path / "here", "5\n10\n"))
    assert spec_digest(traced(tmp_path / "there", "5\n10\n")) == here
    assert spec_digest(traced(tmp_path / "here", "5\n11\n")) != here


def test_a_missing_trace_is_told(tmp_path: Path) -> None:
    spec = EmulatorSpec(name="traced", delay_ms=28, uplink=LinkSpec(trace=tmp_path / "none"))
    with pytest.raises(InputError, match="cannot read the trace"):
        spec_digest(spec)
