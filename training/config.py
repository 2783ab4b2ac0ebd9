"""The training configuration: a frozen model, read from configs/training/*.yaml, saved in the run."""

import json
import re
import shlex
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

import yaml
from ccgym.configs import config_files
from ccgym.envs.errors import InputError, excerpt
from ccgym.envs.host.memory import check_memory
from ccgym.envs.import_strings import is_import_string, load_object
from ccgym.envs.outside_files import read_yaml, replaced
from ccgym.envs.specs.emulators import MOST_RANDOM
from ccgym.envs.specs.spec_errors import first_mistake
from ccgym.oracle.preference import PREFERENCES
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

FLOAT_BYTES = 4
_OWN_CODE = ("features", "network", "oracle", "links", "reward")
"""Keys that may name code of the user's own as `my.module:NAME`."""
MOST_UNITS, MOST_LAYERS = 4096, 16
"""Of a layer, and hidden ones: the most that a policy file may have."""
Units = Annotated[int, Field(gt=0, le=MOST_UNITS)]


class NativeOrOwn(AfterValidator):
    """A known name, or `my.module:NAME` of the user's own code, which is imported later."""

    def __init__(self, *known: str) -> None:
        def check(name: str) -> str:
            if name in known or is_import_string(name):
                return name
            listed = ", ".join(filter(None, known)) or "none"
            raise ValueError(f"{excerpt(name)!r} is unknown; known are {listed}, and MODULE:NAME of your own")

        super().__init__(check)


def _of_a_folder(name: str) -> str:
    """Returns `name` if it can be that of a folder within `runs`."""
    if re.fullmatch(r"\w[\w.+-]{0,99}", name):
        return name
    raise ValueError(f"{excerpt(name)!r} is no name of letters, digits, '.', '_', '+' and '-', 100 at most")


class HostJitter(BaseModel):
    """Host jitter: the sender is held up at random, as a busy machine would hold it up."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    share: float = Field(0.0, ge=0, le=1)
    """Share of the environments with stalls."""
    max_probability: float = Field(0.0, ge=0, le=1)
    """Probability per millisecond that a stall begins, drawn per environment from (0, this]."""
    max_ms: int = Field(1, ge=1)
    """Longest stall in ms, drawn per environment from 1..this."""


RENAMED = {
    "watched": "monitored",
    "kick_probability": "perturbation_probability",
    "max_kick_steps": "max_perturbation_steps",
    "stalls": "host_jitter",
    "peers": "group_size",
}
"""Names of options in version 0.1.0 and the present ones: the old ones are read for one more version."""


class RunConfig(BaseModel):
    """The configuration that all training algorithms share."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _under_their_present_names(cls, options: Any) -> Any:
        if not isinstance(options, dict):
            return options
        return {RENAMED.get(name, name): value for name, value in options.items()}

    name: Annotated[str, AfterValidator(_of_a_folder)]
    """Name of the exported policy and of the folder in `runs`."""
    emulators: str = "synthetic,calibrated"
    """Emulators to train on, as for `--emulators`: links of the split `train`, or files."""
    validation: str = "validation"
    """Emulators the best checkpoint is chosen on; none of the split `test`."""
    seed: int = Field(1, ge=0, lt=2**63)
    iterations: int = Field(gt=0)
    """Rounds of collecting and learning; the learning rate decays over all of them."""
    environments: int = Field(gt=0)
    """Flows run at once, drawn evenly over the emulators."""
    episode_steps: int = Field(gt=0)
    """Decisions per flow and iteration; every iteration starts all flows anew."""
    evaluation_interval: int = Field(gt=0)
    """Iterations between evaluations in the twin."""
    evaluation_seconds: float = Field(30.0, ge=1)
    """Length of an evaluation rollout in seconds."""


def check_rollout_memory(config: RunConfig, inputs: int, iterations: int = 1) -> None:
    """Checks that the decisions of `iterations` fit into memory: an observation and two more numbers each.

    Raises:
        InputError: they need more memory than is free.
    """
    decisions = config.environments * config.episode_steps * iterations
    kept = f" ({iterations} iterations)" if iterations > 1 else ""
    what = f"environments ({config.environments}) x episode_steps ({config.episode_steps}){kept}"
    check_memory(FLOAT_BYTES * decisions * (inputs + 2), what)


Group = Literal["named", "perturbed", "random", "shared", "fading"]


class TrainingConfig(RunConfig):
    """Everything that a run of DAgger depends on, except the machine."""

    architecture: Literal["lstm", "mlp"]
    """Kind of network: one LSTM layer, or linear layers with tanh between them."""
    features: Annotated[str, NativeOrOwn("indigo", "scale_free", "aurora", "raw")]
    """Feature set of the observations: a key of `_core.POLICY_FEATURES`, or `my.module:NAME` of your own."""
    actions: Literal["indigo", "log_window"]
    """Action set: a key of `_core.POLICY_ACTIONS`."""
    companion: bool = False
    """Whether a policy with `log_window` runs with the companion for competing flows; others never do."""
    network: Annotated[str, NativeOrOwn("")] = ""
    """Your own network instead of `architecture` and `hidden`: `my.module:NAME` of a torch.nn.Module."""
    oracle: Annotated[str, NativeOrOwn("")] = ""
    """Your own oracle instead of ours, for flows that are alone: `my.module:NAME` of a function."""
    links: Annotated[str, NativeOrOwn("")] = ""
    """Your own distribution of the random emulators: `my.module:NAME`; empty: `random:train`."""
    hidden: tuple[Units, ...] = Field(min_length=1, max_length=MOST_LAYERS)
    """Units of each hidden layer; an LSTM has one."""
    preferences: tuple[Annotated[float, Field(ge=0, le=1)], Annotated[float, Field(ge=0, le=1)]] = (0.5, 0.5)
    """Range of the trained preferences, low delay (0) to full throughput (1); one is drawn per rollout."""
    default_share: float = Field(0.0, ge=0, le=1)
    """Share of the rollouts with the default preference."""

    variations: int = Field(0, ge=0, le=MOST_RANDOM)
    """Perturbed copies of each of `emulators` to train on as well."""
    variation: float = Field(0.0, ge=0, le=3)
    """Rates and delays of the perturbed copies differ by a factor of up to e to this power."""
    random_emulators: int = Field(0, ge=0, le=MOST_RANDOM)
    """Number of random emulators to train on as well, drawn as `random:train:N`."""
    fading_emulators: int = Field(0, ge=0, le=MOST_RANDOM)
    """Number of fading links, as of radio, to train on as well: fading.py."""
    shares: dict[Group, Annotated[float, Field(ge=0)]] = {
        "named": 1.0,
        "perturbed": 1.0,
        "random": 1.0,
        "shared": 0.0,
        "fading": 1.0,
    }
    """Shares of the rollouts: `emulators`, perturbed copies, random emulators, several flows on a random one,
    fading links. A group that is not given gets 0."""
    host_jitter: HostJitter = HostJitter()
    """Sender stalls as domain randomisation."""

    expert_iterations: int = Field(1, ge=0)
    """Number of iterations over which the share of rollouts driven by the expert falls from 1 to 0 (beta)."""
    curriculum_iterations: int = Field(0, ge=0)
    """Number of iterations over which the emulators of each group are added, smallest BDP first; 0: all at
    once."""
    sequence_steps: int = Field(gt=0)
    """Decisions per training sequence (truncated BPTT); must divide `episode_steps`."""
    perturbation_probability: float = Field(0.0, ge=0, le=1)
    """Probability per decision that a random action is held for a few decisions."""
    max_perturbation_steps: int = Field(1, ge=1)
    """The most decisions for which a random action is held."""

    dataset_iterations: int = Field(gt=0)
    """Iterations kept for training; the oldest is dropped first."""
    epoch_sequences: int | None = Field(None, gt=0)
    """Sequences per epoch: the newest iteration's and a random choice of older ones; None: all kept."""
    batch_sequences: int = Field(gt=0)
    """Sequences per gradient step."""
    max_epochs: int = Field(1, ge=1)
    """Epochs per iteration; fewer when the loss stops falling."""

    initial_learning_rate: float = Field(gt=0)
    final_learning_rate: float = Field(gt=0)
    """The rate falls from the initial to the final one along half a cosine."""
    l2: float = Field(0.0, ge=0)
    """Weight of half the squared norm of all parameters in the loss."""
    max_gradient_norm: float | None = Field(None, gt=0)
    """Gradients are scaled down to this norm; None: never."""

    monitored: str = "validation/14mbps-30ms,varying/rate-steps,varying/markov,shared/three-flows"
    """Emulators whose windows TensorBoard shows over time beside the oracle's; none of the split `test`."""

    @model_validator(mode="after")
    def _sequences_fill_episodes(self) -> Self:
        if self.episode_steps % self.sequence_steps:
            raise ValueError(
                f"sequence_steps ({self.sequence_steps}) must divide episode_steps ({self.episode_steps})"
            )
        if self.architecture == "lstm" and len(self.hidden) != 1:
            raise ValueError(f"hidden ({list(self.hidden)}) must have one entry for an lstm")
        return self

    @model_validator(mode="after")
    def _network_fits_what_it_sees_and_does(self) -> Self:
        if self.features == "indigo" and self.actions != "indigo":
            raise ValueError(f"features indigo hold the last of indigo's actions, not of {self.actions}")
        if self.links and not self.random_emulators:
            raise ValueError("links: random_emulators is 0; it says how many are drawn from them")
        if self.preferences[0] > self.preferences[1]:
            raise ValueError(f"preferences ({list(self.preferences)}) must not fall: low delay is 0")
        return self

    @model_validator(mode="after")
    def _shares_leave_an_environment(self) -> Self:
        sizes = {
            "named": 1,
            "perturbed": self.variations,
            "random": self.random_emulators,
            "shared": self.random_emulators,
            "fading": self.fading_emulators,
        }
        if not any(share > 0 and sizes[group] for group, share in self.shares.items()):
            raise ValueError("shares: no group with emulators has a share above 0; give one to named")
        return self

    @property
    def has_companion(self) -> bool:
        """Whether the policies run with the companion."""
        return self.companion and self.actions == "log_window"

    def expert_share(self, iteration: int) -> float:
        """Share of the rollouts of an iteration that the expert drives."""
        return max(0.0, 1 - iteration / self.expert_iterations) if self.expert_iterations else 0.0

    @property
    def preference_points(self) -> tuple[float, ...]:
        """The trained preferences at which a curve is drawn."""
        low, high = self.preferences
        return tuple(place for place in PREFERENCES if low <= place <= high) if low < high else (low,)

    @property
    def kept_iterations(self) -> int:
        """The most iterations that the dataset holds at once."""
        return min(self.iterations, self.dataset_iterations)

    @property
    def sequences_per_iteration(self) -> int:
        """Training sequences that one iteration yields."""
        return self.environments * (self.episode_steps // self.sequence_steps)


Config = TypeVar("Config", bound=RunConfig)


def load_config(file: Path, overrides: dict[str, Any], kind: type[Config]) -> Config:
    """Reads `file` as a configuration of a `kind`; `overrides` (from flags) win.

    Raises:
        InputError: the file or an override is wrong: one line that names the option, and the file if the
            mistake is in it.
    """
    content = read_options(file)
    try:
        return kind.model_validate(content | overrides)
    except ValidationError as error:
        mistake = first_mistake(error, kind)
        key = re.split(r"[^\w]", mistake, maxsplit=1)[0]
        raise InputError(mistake if key in overrides else f"{file}: {mistake}") from None


def read_options(file: Path) -> dict[str, Any]:
    """The content of a configuration file, unchecked. Raises InputError: no such file, or no mapping."""
    if not file.exists():
        known = ", ".join(config_files("training"))
        raise InputError(f"{file}: cannot read the config: no such file; those that come along: {known}")
    content = read_yaml(file, "the config")
    if not isinstance(content, dict):
        raise InputError(f"{file}: expected a mapping of training options")
    return content


def config_file(name_or_path: str) -> Path:
    """The file of a shipped configuration, such as `indigo2`; anything else is a path."""
    return config_files("training").get(name_or_path, Path(name_or_path))


def config_file_of_run(folder: Path) -> Path:
    """The configuration file of a run. Raises InputError: the folder holds no run."""
    file = folder / "config.yaml"
    if not file.exists():
        raise InputError(f"{folder}: holds no run to resume: no config.yaml in it")
    return file


def checkpoint_of_run(folder: Path) -> Path:
    """The file with weights, optimiser and position after the last whole iteration."""
    return folder / "checkpoints" / "latest.pt"


def check_resumable(folder: Path) -> None:
    """Raises InputError: there is no checkpoint in the folder."""
    checkpoint = checkpoint_of_run(folder)
    if not checkpoint.exists():
        raise InputError(f"{checkpoint}: no checkpoint to resume from; begin the run without --resume")


def check_unused(folder: Path) -> None:
    """Raises InputError: there is a run in the folder already."""
    if checkpoint_of_run(folder).exists():
        raise InputError(
            f"{folder}: holds a run already; go on with it with --resume, or choose another --out"
        )


def load_own_code(config: RunConfig) -> None:
    """Imports the user's own code that the configuration names.

    Raises:
        InputError: it does not exist, or its module cannot be imported.
    """
    for key in _OWN_CODE:
        name = getattr(config, key, None)
        if name and is_import_string(name):
            load_object(name, key)


def trained_on(config: RunConfig, iteration: int) -> str:
    """The command of the training and the iteration, for the policy file: enough to repeat it."""
    name, shipped = _shipped_as(config)
    command = f"ccgym train --config {name} --emulators {config.emulators} --seed {config.seed}"
    if shipped is not None:
        base = load_config(shipped, {"emulators": config.emulators, "seed": config.seed}, type(config))
        ours, theirs = (one.model_dump(mode="json") for one in (config, base))
        command += "".join(
            f" --set {shlex.quote(f'{key}={json.dumps(value)}')}"
            for key, value in ours.items()
            if value != theirs[key]
        )
    return f"{command}, iteration {iteration + 1}"


def _shipped_as(config: RunConfig) -> tuple[str, Path | None]:
    """Name and file of the shipped configuration whose policies have this name; the two names may differ."""
    for name, file in config_files("training").items():
        options = read_options(file)
        if (options.get("name"), options.get("algo")) == (config.name, getattr(config, "algo", None)):
            return name, file
    return config.name, None


def save_config(config: BaseModel, file: Path) -> None:
    """Writes every option, given or default, as `load_config` reads them."""
    with replaced(file) as fresh:
        fresh.write_text(yaml.safe_dump(config.model_dump(), sort_keys=False))
