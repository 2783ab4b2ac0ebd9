"""A real path, between this machine and another one that SSH reaches."""

import re
from dataclasses import dataclass
from typing import Literal

from ccgym.envs.errors import InputError
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from pydantic import BaseModel, ConfigDict

Direction = Literal["up", "down"]


class RemotePathSpec(BaseModel):
    """What is known of a path beforehand."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: str
    remote: str  # USER@HOST[:PORT], as the user's ssh configuration knows it
    direction: Direction  # up: this machine sends; down: the other one does
    ntp: str | None = None  # the server that both clocks are compared with
    delay_ms: Literal[0] = 0  # propagation delay; unknown, so all delay counts as the path's

    @property
    def destination(self) -> str:
        """USER@HOST, as ssh takes it."""
        return self.remote.rpartition(":")[0] if _PORT.search(self.remote) else self.remote

    @property
    def port(self) -> int | None:
        """The port of the SSH server; None: as ssh's configuration says."""
        found = _PORT.search(self.remote)
        return int(found[1]) if found else None


Network = EmulatorSpec | RemotePathSpec

_PORT = re.compile(r":(\d{1,5})$")
_REMOTE = re.compile(r"(?:\w[\w.-]*@)?[A-Za-z0-9][\w.-]*(?::\d{1,5})?")


@dataclass(frozen=True)
class NamedPath:
    """A real path in one direction, with its name in reports."""

    label: str  # path/HOST-DIRECTION
    spec: RemotePathSpec


def remote_paths(remote: str, direction: str, ntp: str | None) -> list[NamedPath]:
    """The path to `remote`, USER@HOST[:PORT], in the direction `up`, `down` or `both`.

    Raises:
        InputError: `remote` is not of this form.
    """
    if not _REMOTE.fullmatch(remote):
        raise InputError(f"--remote {remote!r}: expected USER@HOST or USER@HOST:PORT")
    directions: list[Direction] = ["up", "down"] if direction == "both" else [_direction(direction)]
    paths = []
    for each in directions:
        host = _PORT.sub("", remote).rpartition("@")[2]
        spec = RemotePathSpec(name=f"{host}-{each}", remote=remote, direction=each, ntp=ntp)
        paths.append(NamedPath(f"path/{spec.name}", spec))
    return paths


def _direction(text: str) -> Direction:
    return "up" if text == "up" else "down"
