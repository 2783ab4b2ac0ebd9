"""The training configuration: what comes along loads, mistakes are told in one line."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ccgym.envs.errors import InputError
from ccgym.training.config import TrainingConfig, config_file, load_config, save_config, trained_on
from ccgym.training.tasks.links import links_to_train_on
from ccgym.training.tasks.task_distribution import training_tasks
from pydantic import ValidationError

TinyConfig = Callable[..., TrainingConfig]


@pytest.mark.parametrize("name", ["indigo2", "indigo-2018"])
def test_shipped_config_loads(name: str) -> None:
    config = load_config(config_file(name), {}, TrainingConfig)
    assert config.sequences_per_iteration > 0


def test_flags_win_over_the_file() -> None:
    config = load_config(config_file("indigo2"), {"seed": 7, "emulators": "synthetic"}, TrainingConfig)
    assert (config.seed, config.emulators) == (7, "synthetic")


def test_saved_config_loads_again(tiny_config: TinyConfig, tmp_path: Path) -> None:
    save_config(tiny_config(seed=5), tmp_path / "config.yaml")
    assert load_config(tmp_path / "config.yaml", {}, TrainingConfig) == tiny_config(seed=5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("learnign_rate: 1", "learnign_rate: unknown key"),
        ("host_jitter: {sahre: 1}", "host_jitter.sahre: unknown key"),
        ("hidden: 0", "hidden:"),
        ("name: ../elsewhere", "name: '../elsewhere' is no name of letters"),
        ("name: ''", "name: '' is no name of letters"),
        ("hidden: [5000]", "hidden.0: "),
        (
            "hidden: [4,4,4,4,4,4,4,4,4,4,4,4,4,4,4,4,4]",
            "hidden: [4, 4, 4, 4, 4, 4, ...] has 17 items",
        ),
        ("actions: guess", "actions: 'guess' is not one of"),
        ("features: scent", "features: 'scent' is unknown; known are indigo"),
        ("sequence_steps: 7", "sequence_steps (7) must divide episode_steps"),
    ],
)
def test_mistake_is_told_in_one_line(change: str, message: str, tmp_path: Path) -> None:
    key = change.partition(":")[0]
    lines = config_file("indigo2").read_text().splitlines()
    file = tmp_path / "mine.yaml"
    file.write_text("\n".join([line for line in lines if not line.startswith(f"{key}:")] + [change]))
    with pytest.raises(InputError) as caught:
        load_config(file, {}, TrainingConfig)
    assert str(caught.value).startswith(f"{file}: {message}")
    assert "\n" not in str(caught.value)


def test_a_mistake_in_what_overrides_a_file_is_not_told_of_the_file() -> None:
    with pytest.raises(InputError, match=r"^hidden\.0: 0"):
        load_config(config_file("indigo2"), {"hidden": [0]}, TrainingConfig)
    with pytest.raises(InputError, match=r"^hidden \(\[4, 4\]\) must have one entry for an lstm"):
        load_config(config_file("indigo2"), {"hidden": [4, 4]}, TrainingConfig)


def test_missing_config_names_those_that_come_along(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="aurora, indigo-2018, indigo-power, indigo2-power, indigo2"):
        load_config(tmp_path / "none.yaml", {}, TrainingConfig)


def test_config_that_is_no_yaml_is_an_input_error(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("a: [")
    with pytest.raises(InputError, match="not valid YAML"):
        load_config(tmp_path / "bad.yaml", {}, TrainingConfig)


@pytest.mark.parametrize(("iterations", "shares"), [(0, [0, 0, 0]), (1, [1, 0, 0]), (4, [1, 0.75, 0.5])])
def test_the_experts_share_of_the_runs_falls_to_nothing(
    tiny_config: TinyConfig, iterations: int, shares: list[float]
) -> None:
    config = tiny_config(expert_iterations=iterations)
    assert [config.expert_share(iteration) for iteration in range(3)] == shares
    assert config.expert_share(iterations) == 0


def test_a_policy_says_how_to_repeat_its_training(tiny_config: TinyConfig) -> None:
    shipped = load_config(config_file("indigo2"), {"seed": 3}, TrainingConfig)
    command = "ccgym train --config indigo2 --emulators synthetic,calibrated --seed 3"
    assert trained_on(shipped, 6) == f"{command}, iteration 7"
    ablated = load_config(
        config_file("indigo2"), {"seed": 3, "actions": "indigo", "hidden": [32]}, TrainingConfig
    )
    assert trained_on(ablated, 6) == f"{command} --set 'actions=\"indigo\"' --set 'hidden=[32]', iteration 7"
    assert " --config tiny " in trained_on(tiny_config(), 0)


@pytest.mark.parametrize(
    "shares",
    [{"named": 0.0}, {"fading": 1.0}, {"random": 0.0, "named": 0.0}, {"crowd": 1.0}, {"named": -1.0}, {}],
)
def test_shares_that_leave_nobody_to_run_are_refused(
    tiny_config: TinyConfig, shares: dict[str, float]
) -> None:
    with pytest.raises(ValueError, match="shares"):
        tiny_config(shares=shares)


def test_a_share_that_is_not_given_is_0(tiny_config: TinyConfig) -> None:
    config = tiny_config(random_emulators=8, shares={"random": 1.0})
    assert {group for group, _ in training_tasks(config, []).sample(config, 0)} == {"random"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": "indigo"}, "features indigo hold the last of indigo's actions, not of log_window"),
        ({"preferences": [1, 0]}, "must not fall"),
        ({"preferences": [0, 2]}, "less than or equal to 1"),
        ({"shares": {"named": math.nan}}, "finite number"),
        ({"initial_learning_rate": math.inf}, "finite number"),
        ({"seed": 10**30}, "seed"),
        ({"random_emulators": 10**9}, "less than or equal to 100000"),
    ],
)
def test_a_config_is_checked_before_the_first_run(
    tiny_config: TinyConfig, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        tiny_config(**options)


def test_shared_links_are_no_links_to_train_on(tiny_config: TinyConfig, tmp_path: Path) -> None:
    file = tmp_path / "shared.yaml"
    file.write_text("emulators: [{name: two, delay_ms: 10, uplink: {rate_mbps: 4}, flows: [{}, {}]}]")
    with pytest.raises(InputError, match="emulators: shared/two has flows of its own"):
        links_to_train_on(tiny_config(emulators=f"file:{file}"))


def test_a_file_of_the_former_version_is_read(tiny_config: TinyConfig) -> None:
    former = {
        "watched": "validation",
        "kick_probability": 0.25,
        "max_kick_steps": 7,
        "stalls": {"share": 0.3},
    }
    options = tiny_config().model_dump()
    for name in ("monitored", "perturbation_probability", "max_perturbation_steps", "host_jitter"):
        del options[name]
    config = TrainingConfig.model_validate(options | former)
    assert (config.monitored, config.perturbation_probability) == ("validation", 0.25)
    assert (config.max_perturbation_steps, config.host_jitter.share) == (7, 0.3)


def test_a_policy_names_the_configuration_that_makes_it_again() -> None:
    config = load_config(config_file("indigo-2018"), {"seed": 3}, TrainingConfig)
    assert config.name == "indigo"
    assert trained_on(config, 79).startswith("ccgym train --config indigo-2018 --emulators ")
    assert " --set " not in trained_on(config, 79)
