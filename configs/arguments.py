"""What is typed on the command line, checked."""

import argparse
import math
import re

LONGEST_S, LONGEST_MINUTES = 3600.0, 10_000.0
"""Of a flow; of a search or a training."""


def number_or_nan(text: str) -> float:
    """NaN for what is no number: it lies within no bounds, so the check of the bounds refuses it."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def count(text: str) -> int:
    """A whole number from 1."""
    if not re.fullmatch("[0-9]{1,6}", text) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a whole number from 1 to 999999")
    return int(text)


def seed(text: str) -> int:
    """A whole number from 0."""
    if not re.fullmatch("[0-9]{1,18}", text):
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a whole number from 0 of at most 18 digits")
    return int(text)


def seeds(text: str) -> int:
    """How often a training is repeated: enough for an interval."""
    if not text.isdigit() or not 2 <= int(text) <= 11:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 2 to 11")
    return int(text)


def interval(text: str) -> float:
    """A time between two events in s."""
    value = number_or_nan(text)
    if not 0 <= value <= LONGEST_S:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time from 0 to {LONGEST_S:g} s")
    return value


def seconds(text: str) -> float:
    """The length of a flow in s."""
    value = number_or_nan(text)
    if not 1 <= value <= LONGEST_S:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time from 1 to {LONGEST_S:g} s")
    return value


def minutes(text: str) -> float:
    """How long a search or a training may take."""
    value = number_or_nan(text)
    if not 0 < value <= LONGEST_MINUTES:
        raise argparse.ArgumentTypeError(
            f"{text[:40]!r} is not a time above 0, up to {LONGEST_MINUTES:g} minutes"
        )
    return value


def preference(text: str) -> float:
    """From low delay (0) to full throughput (1)."""
    value = number_or_nan(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a preference from 0, low delay, to 1, full throughput"
        )
    return value


def device(text: str) -> str:
    """Where networks learn; whether it is here only PyTorch knows."""
    if not re.fullmatch(r"cpu|cuda(:[0-9]{1,4})?", text):
        raise argparse.ArgumentTypeError(f"{text[:40]!r}: expected cpu, cuda or cuda:N")
    return text


def add_ray_argument(parser: argparse.ArgumentParser) -> None:
    """Of a command that runs many links."""
    parser.add_argument(
        "--ray", default=None, metavar="ADDRESS", help="HOST:PORT of a Ray cluster for the runs, or auto"
    )
