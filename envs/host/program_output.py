"""The output of other programs about themselves and the machine."""

import subprocess

TIMEOUT_S = 10.0


def program_output(argv: list[str]) -> str:
    """What a program prints; nothing where it is missing, fails, or does not end in time."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
