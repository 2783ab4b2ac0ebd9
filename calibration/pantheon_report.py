"""The text of a report of Pantheon's, as it was published or as it was read back from its pages."""

import re
from pathlib import Path

from ccgym.envs.errors import InputError, excerpt

from .scheme_names import stable_name
from .target import WITHOUT_FIGURES, Run, Target, checked_run, means

_NUMBER = r"[0-9]{1,15}(?:\.[0-9]*)?"
_HEAD = re.compile(r"Run +([0-9]{1,9}): +Statistics +of +(.+?)\s*$", re.MULTILINE)
_TOTAL = re.compile(r"-- Total of \d+ flows?:(.*?)(?:-- Flow 1:|\Z)", re.DOTALL)
_THROUGHPUT = re.compile(rf"Average throughput: *(-?{_NUMBER}) Mbit/s")
_DELAY = re.compile(rf"95th percentile per-packet one-way delay: *(-?{_NUMBER}) ms")
_LOSS = re.compile(rf"Loss rate: *({_NUMBER})")
_LASTED = re.compile(rf"Each test lasted for ({_NUMBER}) seconds,? running ([0-9]{{1,9}}) flows?")
_INTERVAL = re.compile(rf"with ({_NUMBER})-second interval")


def is_report(text: str) -> bool:
    """Whether `text` is such a report."""
    return "Pantheon Report" in text[:2000]


def read_report(path: Path, text: str) -> Target:
    """Its runs, as far as they are readable; what is not is counted.

    Raises:
        InputError: no run is readable, or a figure is impossible.
    """
    heads = list(_HEAD.finditer(text))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    runs, broken = [], 0
    seen: set[tuple[str, int]] = set()
    for head, end in zip(heads, ends, strict=False):
        scheme, number = head[2].replace("\\", ""), int(head[1])
        if (scheme, number) in seen:
            raise InputError(f"{path}: run {number} of {excerpt(scheme)} stands twice; expected each once")
        seen.add((scheme, number))
        run = _run(scheme, text[head.end() : end])
        broken += run is None
        runs += [] if run is None else [checked_run(run, str(path))]
    if not runs:
        raise InputError(f"{path}: a report of Pantheon's without a readable run; is it cut short?")
    names = {run.scheme: stable_name(run.scheme) for run in runs}
    left_out = {scheme: reason for scheme, (ours, reason) in names.items() if ours is None}
    if broken:
        left_out[f"{broken} runs"] = WITHOUT_FIGURES
    lasted, interval = _LASTED.search(text), _INTERVAL.search(text)
    return Target(
        path.stem,
        means(runs, {scheme: ours for scheme, (ours, _) in names.items() if ours is not None}),
        left_out,
        float(lasted[1]) if lasted else 30.0,
        int(lasted[2]) if lasted else 1,
        float(interval[1]) if interval else 0.0,
    )


def _run(scheme: str, page: str) -> Run | None:
    """The figures of all flows together; None: there are none, or nothing came through."""
    total = _TOTAL.search(page)
    part = total[1] if total else ""
    throughput, delay, loss = _THROUGHPUT.search(part), _DELAY.search(part), _LOSS.search(part)
    if throughput is None or delay is None or float(throughput[1]) == 0:
        return None
    return Run(scheme, float(throughput[1]), float(delay[1]), float(loss[1]) / 100 if loss else None)
