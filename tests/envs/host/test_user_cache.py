"""The cache of a user, also of one without a home."""

import pwd
from pathlib import Path

import pytest
from ccgym.cli.main import main
from ccgym.envs.host.user_cache import user_cache


def test_the_cache_follows_xdg_cache_home_and_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_cache("oracle") == tmp_path / ".cache" / "ccgym" / "oracle"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "kept"))
    assert user_cache("oracle") == tmp_path / "kept" / "ccgym" / "oracle"


def test_a_user_without_a_home_folder_has_no_cache(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def nobody(_uid: int) -> None:
        raise KeyError("getpwuid(): uid not found")

    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", nobody)
    assert main(["oracle", "--rate-mbps", "1", "--delay-ms", "5"]) == 0
    assert "ideal window" in capsys.readouterr().out
