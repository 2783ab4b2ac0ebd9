"""A kept window is found again only by the code, the metrics and the specs that found it."""

from pathlib import Path

import pytest
from ccgym.envs.logs import flow_metrics
from ccgym.envs.specs.emulators import EmulatorSpec, LinkSpec
from ccgym.oracle import cache
from pydantic import BaseModel


class Window(BaseModel):
    """A result."""

    cwnd_packets: int


def test_changed_metrics_code_changes_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    spec, search = EmulatorSpec(name="a", delay_ms=10, uplink=LinkSpec(rate_mbps=1)), Path(cache.__file__)
    cache.store(spec, search, Window(cwnd_packets=3))
    assert cache.load(spec, search, Window) == Window(cwnd_packets=3)
    changed = tmp_path / "flow_metrics.py"
    changed.write_text(Path(flow_metrics.__file__).read_text() + "\n")
    monkeypatch.setattr(flow_metrics, "__file__", str(changed))
    cache._code_version.cache_clear()
    try:
        assert cache.load(spec, search, Window) is None
    finally:
        cache._code_version.cache_clear()
