"""Where a training's metrics go besides metrics.jsonl: TensorBoard, Weights & Biases, MLflow."""

import json
import math
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ccgym.envs.errors import InputError, excerpt, is_of_system
from ccgym.envs.outside_files import naming, replaced

if TYPE_CHECKING:  # each tracker imports what it needs: PyTorch takes seconds
    import numpy as np
    from matplotlib.figure import Figure
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Tracked:
    """A run, as its trackers see it."""

    folder: Path
    name: str
    settings: Mapping[str, Any]
    """Its configuration as plain values."""
    iterations: int
    """Iterations done before; what was logged beyond them is dropped where possible."""
    criterion: str
    """The metric that the best policy minimises."""


class Tracker(Protocol):
    """One place that the metrics of a run go to."""

    def log(self, iteration: int, metrics: Mapping[str, float], figures: "Mapping[str, Figure]") -> None:
        """Records the metrics and figures of an iteration, under the same names everywhere."""

    def close(self) -> None:
        """Writes out what is still buffered."""


class TensorBoard:
    """Event files in the folder of the run; its table of settings has one row for it."""

    def __init__(self, run: Tracked) -> None:
        from torch.utils.tensorboard import SummaryWriter
        from torch.utils.tensorboard.summary import hparams

        self._folder = run.folder
        _silence_writer_threads()
        self._writer = SummaryWriter(str(run.folder), purge_step=run.iterations or None)
        if run.iterations:
            return
        plain = {
            key: value if isinstance(value, bool | int | float | str) else json.dumps(value)
            for key, value in run.settings.items()
        }
        file: Any = self._writer.file_writer  # PyTorch leaves its type out
        for summary in hparams(plain, {run.criterion: math.inf}):  # type: ignore[no-untyped-call]
            file.add_summary(summary)

    def log(self, iteration: int, metrics: Mapping[str, float], figures: "Mapping[str, Figure]") -> None:
        """See Tracker."""
        with naming(self._folder):
            for name, value in metrics.items():
                self._writer.add_scalar(name, value, iteration)
            for name, figure in figures.items():
                self._writer.add_figure(name, figure, iteration)
            self._writer.flush()

    def close(self) -> None:
        """See Tracker."""
        with naming(self._folder):
            self._writer.close()


class WeightsAndBiases:
    """A run of the project ccgym in Weights & Biases; its environment variables apply: WANDB_MODE, ..."""

    def __init__(self, run: Tracked) -> None:
        wandb = _module("wandb", "wandb")
        self._image: Any = wandb.Image
        self._run: Any = wandb.init(
            project="ccgym",
            name=run.name,
            id=_kept_id(run.folder / "wandb.id", lambda: uuid.uuid4().hex),
            resume="allow",
            dir=str(run.folder),
            config=dict(run.settings),
        )

    def log(self, iteration: int, metrics: Mapping[str, float], figures: "Mapping[str, Figure]") -> None:
        """See Tracker."""
        images = {name: self._image(_pixels(figure)) for name, figure in figures.items()}
        self._run.log({**metrics, **images}, step=iteration)

    def close(self) -> None:
        """See Tracker."""
        self._run.finish()


class Mlflow:
    """A run of the experiment ccgym on the MLflow server at MLFLOW_TRACKING_URI."""

    def __init__(self, run: Tracked) -> None:
        self._client: Any = _module("mlflow", "mlflow-skinny").MlflowClient()
        experiment = self._client.get_experiment_by_name("ccgym")
        experiment_id = experiment.experiment_id if experiment else self._client.create_experiment("ccgym")
        self._id = _kept_id(
            run.folder / "mlflow.id",
            lambda: str(self._client.create_run(experiment_id, run_name=run.name).info.run_id),
        )
        if not run.iterations:
            for key, value in run.settings.items():
                self._client.log_param(self._id, key, value)

    def log(self, iteration: int, metrics: Mapping[str, float], figures: "Mapping[str, Figure]") -> None:
        """See Tracker."""
        for name, value in metrics.items():
            self._client.log_metric(self._id, name, value, step=iteration)
        for name, figure in figures.items():
            self._client.log_figure(self._id, figure, f"{name}/{iteration:06d}.png")

    def close(self) -> None:
        """See Tracker."""
        self._client.set_terminated(self._id)


TRACKERS: dict[str, Callable[[Tracked], Tracker]] = {
    "tensorboard": TensorBoard,
    "wandb": WeightsAndBiases,
    "mlflow": Mlflow,
}
_PACKAGES = {"wandb": ("wandb", "wandb"), "mlflow": ("mlflow", "mlflow-skinny")}


def known_trackers(text: str) -> tuple[str, ...]:
    """Parses a comma-separated list of trackers; each is returned once.

    Raises:
        InputError: one is unknown, or its package is not installed.
    """
    names = tuple(dict.fromkeys(filter(None, map(str.strip, text.split(",")))))
    for name in names:
        if name not in TRACKERS:
            raise InputError(f"--track: {excerpt(name)!r} is unknown; known are {', '.join(TRACKERS)}")
        if name in _PACKAGES:
            _module(*_PACKAGES[name])
    return names


def open_trackers(names: Sequence[str], run: Tracked) -> list[Tracker]:
    """Opens the trackers of a run.

    Raises:
        InputError: a package is not installed, or its server does not answer.
        OSError: the disk is full, or another lack of the system.
    """
    opened: list[Tracker] = []
    for each in names:
        try:
            opened.append(TRACKERS[each](run))
        except InputError:
            raise
        except Exception as error:  # whatever the packages raise without a server, a key
            if is_of_system(error):
                raise OSError(error.errno, error.strerror, str(run.folder)) from None
            raise InputError(f"--track {each}: {type(error).__name__}: {excerpt(error)}") from error
    return opened


@cache
def _silence_writer_threads() -> None:
    """Keeps TensorBoard's threads from showing an error that the next call raises again."""
    show = threading.excepthook

    def show_unless_raised_again(args: threading.ExceptHookArgs) -> None:
        if not type(args.thread).__module__.startswith("tensorboard."):
            show(args)

    threading.excepthook = show_unless_raised_again


def _pixels(figure: "Figure") -> "NDArray[np.uint8]":
    import numpy as np
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())


def _module(name: str, package: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise InputError(f"--track {name}: not installed here: pip install {package}") from None


def _kept_id(file: Path, make: Callable[[], str]) -> str:
    """The same when the run goes on."""
    if not file.exists():
        with replaced(file) as fresh:
            fresh.write_text(make())
    return file.read_text()
