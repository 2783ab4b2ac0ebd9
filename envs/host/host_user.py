"""The user under whom foreign programs run: never root, which the mahimahi shells refuse."""

import os
import pwd
from dataclasses import dataclass
from pathlib import Path

from ccgym.envs.errors import InputError, excerpt

NOGROUP = 65534
MOST_ID = 2**32 - 2
"""The next number stands for no user."""


@dataclass(frozen=True)
class HostUser:
    """A user without special rights."""

    uid: int
    gid: int

    @classmethod
    def unprivileged(cls) -> "HostUser":
        """The user who runs this program; under sudo its caller, as plain root `nobody`.

        Raises:
            InputError: there is no such user, or a number that sudo leaves in the environment is none.
        """
        if os.getuid() != 0:
            return cls(os.getuid(), os.getgid())
        if caller := _number_of("SUDO_UID", 0):
            return cls(caller, _number_of("SUDO_GID", NOGROUP))
        try:
            nobody = pwd.getpwnam("nobody")
        except KeyError:
            raise InputError(
                "root cannot run mahimahi and there is no user 'nobody': run as another user"
            ) from None
        return cls(nobody.pw_uid, nobody.pw_gid)

    def command(self, argv: list[str]) -> list[str]:
        """`argv`, run as this user."""
        if os.getuid() == self.uid:
            return argv
        return ["setpriv", f"--reuid={self.uid}", f"--regid={self.gid}", "--clear-groups", *argv]

    def give(self, path: Path) -> None:
        """Makes this user the owner of `path`, not of what a link there leads to."""
        os.lchown(path, self.uid, self.gid)


def _number_of(variable: str, default: int) -> int:
    """Of a user or a group, as sudo leaves it in the environment."""
    text = os.environ.get(variable, str(default))
    if not (text.isdecimal() and len(text) <= len(str(MOST_ID)) and int(text) <= MOST_ID):
        raise InputError(f"{variable}: {excerpt(text)!r} is no number from 0 to {MOST_ID}: unset it")
    return int(text)
