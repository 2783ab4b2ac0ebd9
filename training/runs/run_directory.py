"""The run directory on disk, written so that a kill at any moment leaves it whole.

DIR/
config.yaml                          the resolved configuration
origin.json                          the revision of the code, digests of the emulators named and their seeds
checkpoints/latest.pt                weights, optimiser and position after the last whole iteration
checkpoints/dataset/000012.npz       the sequences of one iteration, for every iteration still in the dataset
best/policy.safetensors              the policy with the least criterion on the validation emulators
best/network.pt                      instead, for networks or features that only run in Python: the weights
metrics.jsonl                        one line per iteration: the numbers TensorBoard shows
events.out.tfevents.*, wandb/, *.id  files of the trackers
"""

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Generic, Protocol
from zipfile import BadZipFile

from ccgym.agents.policy_file import git_revision
from ccgym.envs.errors import InputError, excerpt, is_of_system
from ccgym.envs.outside_files import MOST_JSON_BYTES, naming, read_bytes, read_json, replaced
from ccgym.training.config import (
    Config,
    check_resumable,
    check_unused,
    checkpoint_of_run,
    config_file_of_run,
    load_config,
    save_config,
)
from ccgym.training.dataset import Dataset, Sequences, load_sequences
from matplotlib.figure import Figure

from .tensor_file import load_tensors, save_tensors
from .tracking import Tracked, Tracker, open_trackers

SECONDS = "seconds"
"""The metric of the duration of the training in seconds, interruptions not counted."""


@dataclass(frozen=True)
class Checkpoint:
    """The state of a run without its dataset; random streams follow from the seed and the iteration."""

    iterations: int
    """Whole iterations done."""
    policy: dict[str, Any]
    optimiser: dict[str, Any]
    best_criterion: float
    """Lowest so far on the validation emulators; infinite before the first evaluation."""
    decisions: int
    """Decisions collected."""
    criterion: str = "validation/criterion"
    """The metric that the best policy minimises. The default is for older runs, which did not name theirs."""


class Stateful(Protocol):
    """A network or an optimiser."""

    def load_state_dict(self, state: dict[str, Any], /) -> object:
        """Takes the state of another one of its kind; raises an error if it does not fit."""


def _first_difference(error: Exception) -> str:
    """PyTorch tells all of them, each in a line after the first."""
    lines = str(error).splitlines()
    return lines[min(1, len(lines) - 1)].strip() if lines else type(error).__name__


class RunDirectory(Generic[Config]):
    """One run on disk; `Config` is its kind of configuration."""

    def __init__(self, folder: Path, kind: type[Config], track: Sequence[str] = ("tensorboard",)) -> None:
        """`kind`: of the configuration. `track`: keys of `TRACKERS`."""
        self.folder = folder
        self._kind = kind
        self._track = track
        self._trackers: list[Tracker] | None = None

    @property
    def best_policy(self) -> Path:
        """The policy with the lowest criterion so far."""
        return self.folder / "best" / "policy.safetensors"

    @property
    def best_network(self) -> Path:
        """Its weights, if network or features are in Python."""
        return self.folder / "best" / "network.pt"

    @property
    def candidate_policy(self) -> Path:
        """Where a policy is exported to be evaluated; it becomes the best one by a rename."""
        return self.folder / "checkpoints" / "candidate.safetensors"

    @property
    def learner_policy(self) -> Path:
        """The policy that collects."""
        return self.folder / "checkpoints" / "learner.safetensors"

    def create(self, config: Config, pins: Mapping[str, str]) -> None:
        """Begins a run, also in place of one that died before its first checkpoint.

        Args:
            config: of the run.
            pins: digests of the emulators by label.

        Raises:
            InputError: there is a run already.
        """
        check_unused(self.folder)
        try:
            (self.folder / "best").mkdir(parents=True, exist_ok=True)
            self._dataset_folder.mkdir(parents=True, exist_ok=True)
            origin = {"revision": git_revision(), "pins": dict(pins)}
            self._origin_file.write_text(json.dumps(origin, indent=1))
            save_config(config, self._config_file)
            self._metrics_file.unlink(missing_ok=True)
        except OSError as error:
            if is_of_system(error):
                raise
            raise InputError(f"{self.folder}: cannot write a run there: {error.strerror}") from error

    def check_origin(self, pins: Mapping[str, str]) -> None:
        """Warns if the code has changed since the run was begun.

        Raises:
            InputError: an emulator has changed.
        """
        if not self._origin_file.exists():
            return
        origin: Any = read_json(self._origin_file, "what the run began with")
        pinned = origin.get("pins", {}) if isinstance(origin, dict) else None  # older runs have none
        if not isinstance(pinned, dict):
            raise InputError(f"{self._origin_file}: not the origin of a run: begin another run with --out")
        for label, digest in pins.items():
            if pinned.get(label, digest) != digest:
                raise InputError(
                    f"{label} has changed since the run in {self.folder} was begun: begin another with --out"
                )
        if origin.get("revision") != git_revision():
            print(
                f"{self.folder}: begun with revision {origin.get('revision')}, this is {git_revision()}: "
                "the weights may differ from those of an uninterrupted run",
                file=sys.stderr,
            )

    def config(self) -> Config:
        """Raises InputError when the folder holds no run."""
        return load_config(config_file_of_run(self.folder), {}, self._kind)

    @property
    def is_begun(self) -> bool:
        """Whether the folder holds a run that can go on."""
        return self._checkpoint_file.exists()

    def is_finished(self, config: Config) -> bool:
        """Whether the folder holds a run of just this configuration with nothing left to do."""
        return (
            self._checkpoint_file.exists()
            and self.config() == config
            and self.load().iterations == config.iterations
        )

    def save(self, checkpoint: Checkpoint, sequences: Sequences | None, kept_iterations: int) -> None:
        """Writes the state after an iteration and its `sequences`, then drops those beyond `kept_iterations`.

        The order matters: at every moment the checkpoint on disk finds all the sequences it needs.
        """
        if sequences is not None:
            sequences.save(self._sequences_file(checkpoint.iterations - 1))
        save_tensors(asdict(checkpoint), self._checkpoint_file)
        self._sequences_file(checkpoint.iterations - 1 - kept_iterations).unlink(missing_ok=True)

    def load(self) -> Checkpoint:
        """Raises InputError when there is no checkpoint, or none that can be read."""
        check_resumable(self.folder)
        try:
            return Checkpoint(**load_tensors(self._checkpoint_file, "the checkpoint"))
        except InputError:
            raise
        except Exception as error:  # PyTorch raises whatever its unpickler meets
            raise InputError(
                f"{self._checkpoint_file}: broken checkpoint: {excerpt(error)}: begin another run with --out"
            ) from error

    def resume(self, criterion: str, network: Stateful, optimiser: Stateful) -> Checkpoint:
        """Loads the checkpoint, and gives network and optimiser the state in which the run goes on.

        Args:
            criterion: the metric by which the best policy is chosen.
            network: as it was made for the run's configuration.
            optimiser: of its weights.

        Raises:
            InputError: as `load`; the best policy was chosen by another metric, or is missing; or the
                checkpoint is of another network, as of a module of the user that has changed since.
        """
        done = self.load()
        if done.criterion != criterion:
            raise InputError(
                f"{self.folder}: has chosen its best policy by {done.criterion}, this training would by "
                f"{criterion}: begin another run with --out"
            )
        (self.folder / "best").mkdir(exist_ok=True)
        if math.isfinite(done.best_criterion) and not (
            self.best_policy.exists() or self.best_network.exists()
        ):
            raise InputError(
                f"{self.folder}/best: the best policy so far is missing: put it back, or begin another run "
                "with --out"
            )
        try:
            network.load_state_dict(done.policy)
            optimiser.load_state_dict(done.optimiser)
        except InputError:
            raise
        except (RuntimeError, ValueError, KeyError) as error:
            raise InputError(
                f"{self.folder}: was begun with another network ({excerpt(_first_difference(error))}): undo "
                "what has changed in its config.yaml or in modules of your own, or begin another run with "
                "--out"
            ) from None
        return done

    def load_dataset(self, dataset: Dataset, iterations: int, kept_iterations: int) -> None:
        """Fills `dataset` as it was after `iterations` iterations. Raises InputError: a file is broken."""
        for iteration in range(max(0, iterations - kept_iterations), iterations):
            file = self._sequences_file(iteration)
            try:
                dataset.append(iteration, load_sequences(file))
            except InputError:
                raise
            except (OSError, EOFError, ValueError, KeyError, BadZipFile) as error:
                raise InputError(f"{file}: broken: {excerpt(error)}: begin another run with --out") from None

    def open_logs(self, iterations: int, criterion: str) -> None:
        """Opens the logs to continue; lines of later iterations than these are dropped.

        Args:
            iterations: done before.
            criterion: the metric that the best policy minimises.
        """
        if self._metrics_file.exists():
            kept = [line for line in self._logged() if line["iteration"] < iterations]
            with replaced(self._metrics_file) as fresh:
                fresh.write_text("".join(json.dumps(line) + "\n" for line in kept))
        config = self.config()
        settings = config.model_dump(mode="json")
        run = Tracked(self.folder, config.name, settings, iterations, criterion)
        self._trackers = open_trackers(self._track, run)

    def log(self, iteration: int, metrics: dict[str, float], figures: dict[str, Figure]) -> None:
        """Appends `metrics` under the same names to metrics.jsonl and wherever the run is tracked."""
        assert self._trackers is not None, "open_logs comes first"
        with naming(self._metrics_file), self._metrics_file.open("a") as stream:
            stream.write(json.dumps({"iteration": iteration, **metrics}) + "\n")
        for tracker in self._trackers:
            tracker.log(iteration, metrics, figures)

    def history(self, name: str) -> list[tuple[float, float]]:
        """The logged values of a metric: (seconds of training, value)."""
        return [(line[SECONDS], line[name]) for line in self._logged() if name in line]

    def best_metrics(self) -> dict[str, float]:
        """The metrics of the iteration whose policy is the best; it exists once `train` has returned.

        Raises:
            InputError: its line is missing: the file has been changed.
        """
        criterion = self.load().criterion
        return min(self._whole(criterion), key=lambda line: line[criterion])

    def final_metrics(self) -> dict[str, float]:
        """The metrics of the last iteration, with those of the best policy on the emulators trained on.

        Raises:
            InputError: as `best_metrics`.
        """
        return self._whole("iteration")[-1]

    def metrics_of_best_policy(self) -> dict[str, float]:
        """Metrics of the best policy: those of its iteration, and the final ones of the last iteration."""
        return self.final_metrics() | self.best_metrics()

    def _whole(self, name: str) -> list[dict[str, float]]:
        lines = [line for line in self._logged() if name in line]
        if not lines:
            raise InputError(f"{self._metrics_file}: damaged: no line has {name}: train into another --out")
        return lines

    def _logged(self) -> list[dict[str, float]]:
        """The metrics of every iteration so far; an incomplete last line, left by a kill, is ignored.

        Raises:
            InputError: a line is damaged.
        """
        if not self._metrics_file.exists():
            return []
        whole, _, _ = (
            read_bytes(self._metrics_file, "the metrics", MOST_JSON_BYTES)
            .decode(errors="replace")
            .rpartition("\n")
        )
        return [self._metrics_of(line, number) for number, line in enumerate(whole.splitlines(), 1)]

    def _metrics_of(self, line: str, number: int) -> dict[str, float]:
        metrics: dict[str, float] | None
        try:
            metrics = json.loads(line)
        except (ValueError, RecursionError):
            metrics = None
        if (
            not isinstance(metrics, dict)
            or "iteration" not in metrics
            or not all(isinstance(value, int | float) for value in metrics.values())
        ):
            raise InputError(
                f"{self._metrics_file}:{number}: not the metrics of an iteration: delete the line"
            )
        return metrics

    def close_logs(self) -> None:
        """Writes out what the trackers still hold."""
        for tracker in self._trackers or []:
            tracker.close()

    @property
    def _config_file(self) -> Path:
        return self.folder / "config.yaml"

    @property
    def _origin_file(self) -> Path:
        return self.folder / "origin.json"

    @property
    def _metrics_file(self) -> Path:
        return self.folder / "metrics.jsonl"

    @property
    def _checkpoint_file(self) -> Path:
        return checkpoint_of_run(self.folder)

    @property
    def _dataset_folder(self) -> Path:
        return self.folder / "checkpoints" / "dataset"

    def _sequences_file(self, iteration: int) -> Path:
        return self._dataset_folder / f"{iteration:06d}.npz"
