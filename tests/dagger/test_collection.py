"""Who runs with whom: what is configured is what is trained."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from ccgym.agents.shipped import policy_path
from ccgym.dagger.collection import Collector, Recording
from ccgym.envs import _core
from ccgym.envs.specs.emulators import EmulatorSpec, LinkSpec
from ccgym.training.config import TrainingConfig
from ccgym.training.tasks.task_distribution import TaskDistribution

TinyConfig = Callable[..., TrainingConfig]


def links(count: int) -> list[EmulatorSpec]:
    return [
        EmulatorSpec(name=f"link-{index}", delay_ms=20, uplink=LinkSpec(rate_mbps=10.0 + index))
        for index in range(count)
    ]


def test_flows_that_share_a_path_are_of_one_group(tiny_config: TinyConfig) -> None:
    shares = {"random": 0.75, "shared": 0.1, "fading": 0.15}
    tasks = TaskDistribution({group: links(8) for group in shares}, shares)
    config = tiny_config(environments=96)
    collector = Collector(config, tasks, 2 * config.hidden[0] if config.architecture == "lstm" else 0)
    for iteration in range(20):
        paths = collector._paths(iteration)  # what runs on which path has no other face
        measured: Counter[str] = Counter()
        for path in paths:
            measured[path.group] += path.count
        # 72, 9.6 and 14.4 of 96: the run that rounding leaves goes to the group that lost most by it.
        assert measured == {"random": 72, "shared": 10, "fading": 14}
        assert min(path.count for path in paths if path.group == "shared") >= 2
        assert [path.first for path in paths] == np.cumsum([0, *(path.count for path in paths)])[:-1].tolist()


def test_decisions_come_before_skipped_instants_in_a_sequence(tiny_config: TinyConfig) -> None:
    """A flow that lets an instant pass keeps its memory, so nothing may come between two decisions."""
    config = tiny_config()
    collector = Collector(config, TaskDistribution({"random": links(8)}, {"random": 1.0}), 0)
    flows, steps = config.environments, config.episode_steps
    labels = np.arange(flows * steps, dtype=np.float32).reshape(flows, steps)
    observations = np.repeat(labels[:, :, None], 30, axis=2)
    labels[:, ::3] = np.nan
    states = np.zeros((flows, steps // config.sequence_steps, 0), np.float32)
    collector._recording = Recording(observations, labels, labels, states)
    sequences = collector.sequences()
    for seen, told in zip(sequences.observations, sequences.labels, strict=True):
        decided = int(np.isfinite(told).sum())
        assert np.isfinite(told[:decided]).all()
        assert np.all(np.diff(told[:decided]) > 0)
        assert np.array_equal(seen[:decided, 0], told[:decided])


def test_windows_of_several_learners_need_a_row_each(tiny_config: TinyConfig) -> None:
    path = links(1)[0].to_path(flows=[_core.Flow(), _core.Flow()])
    for shape in ((1, 40), (40,), (2, 0)):
        with pytest.raises(ValueError, match=r"ideal_packets should be of shape \(2, G\)"):
            _core.rollout(
                path,
                _core.InferencePolicy(str(policy_path("indigo2"))),
                features="scale_free",
                actions="log_window",
                preference=0.5,
                seed=1,
                ideal_packets=np.ones(shape),
                perturbed_acts=np.full((2, 16), np.nan, np.float32),
                observations=np.empty((2, 16, 30), np.float32),
                acts=np.empty((2, 16), np.float32),
                labels=np.empty((2, 16), np.float32),
                states=np.empty((2, 2, 0), np.float32),
                sequence_decisions=8,
                ideal_step_ms=10.0,
                expert_acts=False,
            )
