"""A training can name no test link, not even as a copy in a file."""

from collections.abc import Callable
from pathlib import Path

import pytest
from ccgym.configs import config_files
from ccgym.envs.errors import InputError
from ccgym.envs.specs.digest import spec_digest
from ccgym.rl.config import RlConfig
from ccgym.training.config import TrainingConfig, load_config, read_options
from ccgym.training.runs.run_directory import RunDirectory
from ccgym.training.tasks.links import links_to_train_on, links_to_validate_on, pins, seen_links
from ccgym.training.tasks.task_distribution import training_tasks, validation_tasks

TinyConfig = Callable[..., TrainingConfig]
COPY = "emulators: [{name: mine, delay_ms: 30, uplink: {rate_mbps: 12, queue: droptail, bytes: 90000}}]\n"


@pytest.mark.parametrize("selection", ["random:4", "random:4:777", "pathological", "synthetic,field"])
def test_a_test_link_is_refused_in_one_line(tiny_config: TinyConfig, selection: str) -> None:
    with pytest.raises(InputError, match=r"emulators: .* is a link of the split test") as caught:
        links_to_train_on(tiny_config(emulators=selection))
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match=r"monitored: .* is a link of the split test"):
        links_to_validate_on("monitored", selection)


def test_a_copy_of_a_test_link_is_one(tiny_config: TinyConfig, tmp_path: Path) -> None:
    (tmp_path / "copy.yaml").write_text(COPY)
    with pytest.raises(InputError, match="copy/mine is a link of the split test"):
        links_to_train_on(tiny_config(emulators=f"file:{tmp_path}/copy.yaml"))
    (tmp_path / "own.yaml").write_text(COPY.replace("12", "12.5"))
    assert len(links_to_train_on(tiny_config(emulators=f"file:{tmp_path}/own.yaml"))) == 1


def test_a_validation_link_is_not_trained_on(tiny_config: TinyConfig) -> None:
    with pytest.raises(InputError, match="is a link of the split validation; here stand those of train"):
        links_to_train_on(tiny_config(emulators="random:validation:3"))


@pytest.mark.parametrize("name", config_files("training"))
def test_a_config_that_ships_keeps_to_its_splits(name: str) -> None:
    file = config_files("training")[name]
    kind = RlConfig if "algo" in read_options(file) else TrainingConfig
    config = load_config(file, {}, kind)
    assert links_to_train_on(config)
    assert links_to_validate_on("validation", config.validation)
    if isinstance(config, TrainingConfig):
        assert links_to_validate_on("monitored", config.monitored)


def test_what_is_trained_and_validated_on_is_apart_from_what_is_tested(tiny_config: TinyConfig) -> None:
    config = tiny_config(random_emulators=64, fading_emulators=8, environments=64)
    tasks, unseen = training_tasks(config, []), validation_tasks(config)
    seen = seen_links([spec for specs in tasks.groups.values() for spec in specs], unseen.groups["random"])
    assert (len(seen.train), len(seen.validation)) == (72, 64)
    assert len(seen.train & seen.validation) <= 1, "two slow even links may be equal by rounding"
    assert {seen.how(spec_digest(spec)) for spec in tasks.groups["fading"]} == {"train"}


def test_another_seed_of_a_validation_link_is_another_run(tiny_config: TinyConfig, tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    pinned = []
    for seed in (1, 2):
        link = f"uplink: {{rate_mbps: 12.5, arrivals: poisson, seed: {seed}}}"
        file.write_text(f"emulators: [{{name: mine, delay_ms: 30, {link}}}]\n")
        pinned.append(pins(links_to_validate_on("validation", f"file:{file}")))
    run = RunDirectory(tmp_path / "run", TrainingConfig)
    run.create(tiny_config(), pinned[0])
    run.check_origin(pinned[0])
    with pytest.raises(InputError, match="own/mine has changed since the run in"):
        run.check_origin(pinned[1])
