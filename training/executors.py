"""What runs the work of a training: threads of this process, or the workers of a Ray cluster."""

import logging
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from ccgym.envs.errors import InputError, excerpt

ANSWER_S = 5.0
MOST_PORT = 65535

# A cluster's head speaks gRPC. Either side of HTTP/2 begins with its settings, an empty frame of which are a
# client's preface (RFC 9113, sections 3.4, 4.1 and 6.5).
_HTTP2_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
_HTTP2_FRAME_HEADER_BYTES = 9
_HTTP2_FRAME_TYPE = slice(3, 4)
_HTTP2_SETTINGS = b"\x04"

Result = TypeVar("Result")


class RayExecutor(Executor):
    """Runs functions on a Ray cluster, one processor each; its machines have the same ccgym installed.

    Functions, arguments and results are pickled, and must depend on nothing else: one whose worker or machine
    is lost is run again elsewhere.
    """

    def __init__(self, address: str) -> None:
        """Connects to the cluster at HOST:PORT, or with `auto` to the one that this machine belongs to.

        Raises:
            InputError: Ray is not installed, or there is no cluster.
        """
        check_cluster(address)
        try:
            import ray
        except ImportError:
            raise InputError("--ray: Ray is not installed: `pip install 'ccgym[ray]'`") from None
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        except (OSError, ValueError) as error:  # ConnectionError is an OSError
            raise _no_cluster(address, error) from None
        self._ray: Any = ray
        self._call: Any = ray.remote(num_cpus=1, max_retries=-1)(_call)
        self._keeper: Any = ray.remote(max_restarts=-1, max_task_retries=-1, scheduling_strategy="SPREAD")(
            _Keeper
        )

    @property
    def processors(self) -> int:
        """The number of processors of all machines of the cluster."""
        return int(self._ray.cluster_resources().get("CPU", 1))

    def keep(self, make: Callable[..., Any], /, *args: Any) -> "Kept":
        """What `make(*args)` makes, kept by a worker of its own."""
        return Kept(self._keeper.remote(make, args))

    def submit(self, fn: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        """A future of `fn(*args, **kwargs)`."""
        future: Future[Result] = self._call.remote(fn, args, kwargs).future()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        """Disconnects from the cluster, which keeps running."""
        self._ray.shutdown()


class Kept:
    """An object that a worker keeps between calls, which are made in order.

    When the worker is lost, another one makes the object anew, and the lost call is repeated there.
    """

    def __init__(self, keeper: Any) -> None:
        self._keeper = keeper

    def call(self, method: str, /, *args: Any) -> Future[Any]:
        """A future of what the object's method returns."""
        future: Future[Any] = self._keeper.call.remote(method, args).future()
        return future


class _Keeper:
    """The worker's side of `Kept`."""

    def __init__(self, make: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self._kept = make(*args)

    def call(self, method: str, args: tuple[Any, ...]) -> Any:
        return getattr(self._kept, method)(*args)


def check_cluster(address: str) -> None:
    """Looks for a cluster at HOST:PORT, before Ray and PyTorch take seconds; `auto` is left to Ray.

    Raises:
        InputError: nothing answers there, or something else; Ray itself would try for minutes.
    """
    if address == "auto":
        return
    try:
        with socket.create_connection(_host_and_port(address), ANSWER_S) as connection:
            connection.sendall(_HTTP2_HELLO)
            answer = connection.recv(_HTTP2_FRAME_HEADER_BYTES)
    except (OSError, ValueError) as error:
        raise _no_cluster(address, error) from None
    if answer[_HTTP2_FRAME_TYPE] != _HTTP2_SETTINGS:
        raise _no_cluster(address, ValueError("what answers there is no head of a cluster"))


def _host_and_port(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    # The system would take the last 16 bits of a greater number.
    if not (host and port.isdecimal() and len(port) <= len(str(MOST_PORT)) and 0 < int(port) <= MOST_PORT):
        raise ValueError(f"HOST:PORT, with a PORT from 1 to {MOST_PORT}, or auto would be right")
    return host, int(port)


def _no_cluster(address: str, error: Exception) -> InputError:
    reason = str(error).strip().splitlines()[0]
    return InputError(f"--ray {excerpt(address)}: no cluster there: {reason}; see `ray start --head`")


def _call(fn: Callable[..., Result], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    return fn(*args, **kwargs)


@contextmanager
def open_executors(workers: int, ray_address: str | None) -> Iterator[tuple[Executor, Executor]]:
    """Threads of this process for work on its memory; for rollouts the same threads or a Ray cluster.

    PyTorch computes with one thread in each: the order of a sum does not depend on scheduling.

    Raises:
        InputError: see `RayExecutor`.
    """
    import torch  # imported late: it takes seconds, and checking for a cluster does not need it

    with ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,)) as threads:
        if ray_address is None:
            yield threads, threads
            return
        with RayExecutor(ray_address) as cluster:
            yield threads, cluster
