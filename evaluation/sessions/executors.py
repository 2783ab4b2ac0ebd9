"""Executors of runs in virtual time: threads of this machine, or a Ray cluster, with the same figures."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ccgym.envs.errors import InputError
from ccgym.envs.outside_files import read_bytes
from ccgym.evaluation.schemes import Scheme


@contextmanager
def open_executor(ray_address: str | None, workers: int | None = None) -> Iterator[Executor]:
    """Opens an executor of `workers` threads (None: one for each core), or a cluster.

    A cluster pickles functions and arguments; a task whose worker or machine is lost runs again.

    Raises:
        InputError: Ray is not installed, or there is no cluster.
    """
    if ray_address is None:
        with ThreadPoolExecutor(workers or len(os.sched_getaffinity(0))) as threads:
            yield threads
        return
    from ccgym.training.executors import RayExecutor  # with it comes PyTorch, which takes seconds

    with RayExecutor(ray_address) as cluster:
        yield cluster


def check_travels(schemes: Sequence[Scheme]) -> None:
    """Raises InputError if a scheme cannot run on other machines, because its files do not travel."""
    for scheme in schemes:
        for member in scheme.line_up(1):
            if member.outside_file is not None:
                raise InputError(f"--ray: scheme {member.label!r} is of this machine; leave it or --ray out")


def policies_of(schemes: Sequence[Scheme]) -> dict[Path, bytes]:
    """The contents of the schemes' policy files, which travel with a task."""
    files = {member.policy_file for scheme in schemes for member in scheme.line_up(1)}
    return {file: read_bytes(file, "the policy") for file in files if file is not None}


@contextmanager
def with_policies(schemes: Sequence[Scheme], policies: dict[Path, bytes]) -> Iterator[list[Scheme]]:
    """The schemes with local copies of their policies, on the machine of a task."""
    with tempfile.TemporaryDirectory(prefix="ccgym-") as name:
        copies = {file: Path(name) / f"{index}.safetensors" for index, file in enumerate(policies)}
        for file, copy in copies.items():
            copy.write_bytes(policies[file])
        yield [_with_copies(scheme, copies) for scheme in schemes]


def _with_copies(scheme: Scheme, copies: dict[Path, Path]) -> Scheme:
    if scheme.members:
        return replace(scheme, members=tuple(_with_copies(member, copies) for member in scheme.members))
    if scheme.policy_file is None:
        return scheme
    return replace(scheme, controller=scheme.controller_with(copies[scheme.policy_file]))
