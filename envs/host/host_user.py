"""The user under whom foreign programs run: never root, which the mahimahi shells refuse."""

import os
import pwd
from dataclasses import dataclass
from pathlib import Path

from ccgym.envs.errors import InputError


@dataclass(frozen=True)
class HostUser:
    """A user without special rights."""

    uid: int
    gid: int

    @classmethod
    def unprivileged(cls) -> "HostUser":
        """Who runs this program; under sudo who called it, as plain root `nobody`.

        Raises:
            InputError: there is no such user.
        """
        if os.getuid() != 0:
            return cls(os.getuid(), os.getgid())
        if int(os.environ.get("SUDO_UID", 0)):
            return cls(int(os.environ["SUDO_UID"]), int(os.environ.get("SUDO_GID", 65534)))
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
