import os

import pytest
from ccgym.envs.errors import InputError
from ccgym.envs.host.host_user import HostUser


@pytest.mark.parametrize("variable", ["SUDO_UID", "SUDO_GID"])
@pytest.mark.parametrize("odd", ["abc", "-1", "", "4294967295", "9" * 5000, "1\n2"])
def test_what_sudo_never_left_in_the_environment_is_one_line(
    monkeypatch: pytest.MonkeyPatch, variable: str, odd: str
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 0)
    monkeypatch.setenv("SUDO_UID", "1000")
    monkeypatch.setenv(variable, odd)
    with pytest.raises(InputError, match=rf"^{variable}: '.{{0,90}}' is no number from 0 to 4294967294"):
        HostUser.unprivileged()


def test_under_sudo_programs_run_as_who_called_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 0)
    monkeypatch.setenv("SUDO_UID", "1000")
    monkeypatch.setenv("SUDO_GID", "1001")
    assert HostUser.unprivileged() == HostUser(1000, 1001)
