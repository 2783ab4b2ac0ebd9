"""What a training takes from outside the package, by import string, from an empty folder."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from ccgym.agents.policy_file import load_policy, save_policy
from ccgym.agents.policy_header import PolicySpec
from ccgym.agents.stack import StackPolicy
from ccgym.cli.main import main
from ccgym.dagger.collection import SharedPath, draw_plan, roll_out_in_batch
from ccgym.dagger.collection import _roll_out as roll_out_natively
from ccgym.dagger.fitting import make_policy
from ccgym.envs import _core
from ccgym.envs.errors import InputError
from ccgym.envs.specs.emulators import select_emulators
from ccgym.training.batch_rollouts import BatchPolicy, BatchRollout
from ccgym.training.config import TrainingConfig
from ccgym.training.own_network import flat_state, load_network, state_size, unflat_state

SMALL = (
    "iterations=2", "environments=4", "episode_steps=50", "evaluation_seconds=1", "batch_decisions=100",
    "evaluation_interval=2", "validation=validation/7mbps-15ms",
)  # fmt: skip
"""Of a training with ppo; to validate on more links, windows would be searched for longer than it trains."""

REWARD = """
import numpy as np

def misspelt(info, link_mbps, empty_rtt_ms):
    return info["rtt_ms"]

def undefined(info, link_mbps, empty_rtt_ms):
    return np.log(0 * info["delay_ms"])

def ends(info, link_mbps, empty_rtt_ms):
    raise SystemExit

def thrifty(info, link_mbps, empty_rtt_ms):
    return info["throughput_mbps"] / link_mbps - 0.1 * info["queue_packets"] / (1 + info["cwnd_packets"])
"""

FEATURES = """
import numpy as np

class Four:
    size = 4

    def __init__(self, flows):
        self.slow = np.zeros(flows)

    def observe(self, raw, action):
        queueing = raw["mean_rtt_ms"] - np.where(raw["acks"] > 0, raw["least_rtt_ms"], 0)
        self.slow += (queueing - self.slow) / 8
        window = np.maximum(raw["window_packets"], 1)
        bdp = np.maximum(raw["delivery_rate_mbps"] * raw["least_rtt_ms"] / 12, 1e-3)
        return np.stack([np.log(window) / 5, np.log1p(queueing) / 3, np.log(bdp / window), self.slow], axis=1)

class Misspelt(Four):
    def observe(self, raw, action):
        return raw["rtt"]

class Alone(Four):
    def __init__(self):
        pass
"""

NETWORK = """
from typing import NamedTuple

import torch

class Net(torch.nn.Module):  # a stack of known layers
    def __init__(self, inputs, outputs):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(inputs, 16), torch.nn.LayerNorm(16), torch.nn.SiLU())
        self.memory = torch.nn.GRUCell(16, 8)
        self.head = torch.nn.Linear(8, outputs)

    def initial_state(self, flows):
        return torch.zeros(flows, 8)

    def step(self, observation, state):
        state = self.memory(self.body(observation), state)
        return self.head(state), state

class Skipping(Net):  # no stack: what it sees goes around the layers as well
    def __init__(self, inputs, outputs):
        super().__init__(inputs, outputs)
        self.around = torch.nn.Linear(inputs, outputs)

    def step(self, observation, state):
        outputs, state = super().step(observation, state)
        return outputs + self.around(observation), (state)

class Plain(torch.nn.Module):  # without memory
    def __init__(self, inputs, outputs):
        super().__init__()
        hidden = torch.nn.Linear(inputs, 8)
        self.layers = torch.nn.Sequential(hidden, torch.nn.ReLU(), torch.nn.Linear(8, outputs))

    def initial_state(self, flows):
        return ()

    def step(self, observation, state):
        return self.layers(observation), state

class Nested(Net):  # no stack, and its memory has names
    def initial_state(self, flows):
        return {"slow": super().initial_state(flows), "more": [torch.zeros(flows, 2, 3)]}

    def step(self, observation, state):
        outputs, slow = super().step(observation, state["slow"])
        return 2 * outputs, {"slow": slow, "more": state["more"]}

class Layered(Net):  # its memory is not by flow
    def initial_state(self, flows):
        return torch.zeros(2, flows, 8)

    def step(self, observation, state):
        outputs, slow = super().step(observation, state[0])
        return 2 * outputs, torch.stack([slow, slow])

class Batched(Plain):
    def __init__(self, inputs, outputs):
        super().__init__(inputs, outputs)
        self.norm = torch.nn.BatchNorm1d(outputs)

class Beside(Plain):  # a flow is answered by what others see
    def step(self, observation, state):
        outputs, state = super().step(observation, state)
        return outputs - outputs.mean(0), state

class ByChance(Plain):  # the single answer is half the time the same
    def step(self, observation, state):
        outputs, state = super().step(observation, state)
        return torch.nn.functional.dropout(outputs, 0.5, True), state

class InPlace(Net):
    def step(self, observation, state):
        state += 1
        return super().step(observation, state)

class Fixed(Plain):
    def step(self, observation, state):
        return super().step(observation, state)[0].detach(), state

class OutputsOnly(Plain):
    def step(self, observation, state):
        return self.layers(observation)

class Undefined(Plain):
    def step(self, observation, state):
        return torch.nan * self.layers(observation), state

class Around(Plain):  # no stack
    def step(self, observation, state):
        return self.layers(observation) + observation[:, :1], state

class Memory(NamedTuple):
    slow: torch.Tensor
    more: list[torch.Tensor]

class Frozen(Plain):  # no stack: its first layer stays what it is
    def __init__(self, inputs, outputs):
        super().__init__(inputs, outputs)
        self.layers[0].requires_grad_(False)

class Named(Net):  # no stack, and its memory is a tuple with names
    def initial_state(self, flows):
        return Memory(super().initial_state(flows), [torch.zeros(flows, 2)])

    def step(self, observation, state):
        outputs, slow = super().step(observation, state.slow)
        return 2 * outputs, Memory(slow, state.more)

class Flat(Plain):  # its memory is one number for each flow, without a dimension for it
    def initial_state(self, flows):
        return torch.zeros(flows)

    def step(self, observation, state):
        return self.layers(observation) + observation[:, :1], state + 1

class Late(Around):  # raises on what it sees only later
    def step(self, observation, state):
        if observation[0, 0] == 7:
            raise KeyError("seven")
        return super().step(observation, state)

class Narrow(Net):
    def step(self, observation, state):
        return observation[:, :1].repeat(1, 3), state
"""

ORACLE = """
import numpy as np

def ideal_windows(spec, preference, steps):
    return np.full(steps, 2 * spec.delay_ms * spec.uplink.schedule().mean_rate_mbps / 12 + 3)

def divides(spec, preference, steps):
    return np.full(steps, spec.delay_ms / 0)
"""

LINKS = """
from ccgym.envs.specs.emulators import EmulatorSpec, LinkSpec

def slow(rng):
    link = LinkSpec(rate_mbps=float(rng.uniform(1, 4)), queue="droptail", packets=40)
    return EmulatorSpec(name="slow", delay_ms=int(rng.integers(5, 40)), uplink=link)

def old(rng):
    return rng.randint(3)

def gone(rng):
    return EmulatorSpec(name="gone", delay_ms=5, uplink=LinkSpec(trace="gone.up"))

def dead(rng):
    return EmulatorSpec(name="dead", delay_ms=5, uplink=LinkSpec(rate_mbps=5, loss=1))
"""

TINY = """
name: mine
architecture: mlp
features: scale_free
actions: log_window
hidden: [16]
emulators: synthetic/5mbps-10ms
validation: validation/7mbps-15ms
monitored: validation/7mbps-15ms
random_emulators: 8
shares: {random: 1}
iterations: 2
environments: 6
episode_steps: 64
sequence_steps: 16
dataset_iterations: 2
batch_sequences: 8
initial_learning_rate: 3.0e-3
final_learning_rate: 1.0e-3
evaluation_interval: 1
evaluation_seconds: 2
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in {
        "worth.py": REWARD,
        "script.py": "raise SystemExit(0)\n",
        "seen.py": FEATURES,
        "nets.py": NETWORK,
        "right.py": ORACLE,
        "paths.py": LINKS,
        "tiny.yaml": TINY,
    }.items():
        (tmp_path / name).write_text(text)
        # A process imports a module once: other tests have had theirs under these names.
        monkeypatch.delitem(sys.modules, Path(name).stem, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def ccgym(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(Path(sys.executable).with_name("ccgym")), *arguments],
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
        env={**os.environ, "XDG_CACHE_HOME": "cache"},
    )


def small(*settings: str) -> list[str]:
    """Words of the command line; what is given goes before what stands in SMALL."""
    return [word for setting in (*SMALL, *settings) for word in ("--set", setting)]


def weights(run: str) -> dict[str, Any]:
    checkpoint: dict[str, Any] = torch.load(Path(run) / "checkpoints" / "latest.pt", weights_only=False)
    policy: dict[str, Any] = checkpoint["policy"]
    return policy


def last_metrics(run: str) -> dict[str, float]:
    metrics: dict[str, float] = json.loads((Path(run) / "metrics.jsonl").read_text().splitlines()[-1])
    return metrics


@pytest.mark.slow
def test_dagger_on_features_network_oracle_and_links_of_ones_own_is_resumed_to_the_same_weights(
    capsys: pytest.CaptureFixture[str],
) -> None:
    seams = ["features=seen:Four", "network=nets:Nested", "oracle=right:ideal_windows", "links=paths:slow"]
    settings = [word for seam in seams for word in ("--set", seam)]
    training = ["train", "--config", "tiny.yaml", *settings, "--out"]
    assert main([*training, "whole"]) == 0
    assert "best/network.pt" in capsys.readouterr().out
    assert main([*training, "parts", "--minutes", "0.0001"]) == 0
    rest = ccgym("train", "--resume", "--out", "parts")
    assert rest.returncode == 0, rest.stderr
    ours, theirs = weights("whole"), weights("parts")
    assert all(ours[name].equal(theirs[name]) for name in ours)
    metrics = last_metrics("whole")
    assert {
        "loss",
        "agreement/random",
        "validation/regret",
        "relative_throughput/validation/7mbps-15ms",
    } <= set(metrics)
    assert main(["export", "whole", "--name", "mine"]) == 2
    assert "linear, lstm, gru, layer_norm, tanh" in capsys.readouterr().err


@pytest.mark.slow
def test_a_stack_of_known_layers_is_trained_and_runs_natively() -> None:
    argv = ["train", "--config", "tiny.yaml", "--set", "network=nets:Net", "--out", "run"]
    assert main(argv) == 0
    module, spec = load_policy(Path("run/best/policy.safetensors"))
    assert isinstance(module, StackPolicy)
    assert [layer["kind"] for layer in module.plan] == ["linear", "layer_norm", "silu", "gru", "linear"]
    assert not spec.companion


def test_everything_known_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "--list"]) == 0
    listed = capsys.readouterr().out
    for name in (
        "scale_free",
        "window_and_rate",
        "log_power",
        "layer_norm",
        "least_rtt_ms",
        "-> EmulatorSpec",
    ):
        assert name in listed


@pytest.mark.slow
def test_ppo_on_features_of_ones_own_keeps_weights() -> None:
    settings = small("features=seen:Four", "iterations=1", "evaluation_interval=1")
    assert main(["train", "--algo", "ppo", *settings, "--out", "run"]) == 0
    assert Path("run/best/network.pt").exists()


@pytest.mark.slow
def test_ppo_on_a_reward_and_links_of_ones_own() -> None:
    settings = small("reward=worth:thrifty", "links=paths:slow")
    done = ccgym("train", "--algo", "ppo", *settings, "--out", "run")
    assert done.returncode == 0, done.stderr
    assert Path("run/best/policy.safetensors").exists()


@pytest.mark.parametrize(("network", "kept"), [("Plain", "policy.safetensors"), ("Around", "network.pt")])
def test_ppo_on_a_network_of_ones_own(network: str, kept: str) -> None:
    settings = small(f"network=nets:{network}")
    assert main(["train", "--algo", "ppo", *settings, "--out", "run"]) == 0
    assert Path("run/best", kept).exists()
    before = Path("run/best", kept).read_bytes()
    assert main(["train", "--algo", "ppo", "--resume", "--set", "iterations=2", "--out", "run"]) == 0
    assert Path("run/best", kept).read_bytes() == before


def assert_only_the_first_layer_stays(prefix: str) -> None:
    before, after = load_network("nets:Frozen", 30, 1, seed=1).state_dict(), weights("run")
    assert {name: tensor.equal(after[prefix + name]) for name, tensor in before.items()} == {
        "layers.0.weight": True,
        "layers.0.bias": True,
        "layers.2.weight": False,
        "layers.2.bias": False,
    }


def test_ppo_leaves_what_a_network_has_frozen() -> None:
    settings = small("network=nets:Frozen", "seed=1", "iterations=2", "value_iterations=1")
    assert main(["train", "--algo", "ppo", *settings, "--out", "run"]) == 0
    assert_only_the_first_layer_stays("mlp_extractor.acting.")


@pytest.mark.slow
def test_dagger_leaves_what_a_network_has_frozen() -> None:
    settings = ["--set", "network=nets:Frozen", "--set", "seed=1", "--set", "iterations=1"]
    assert main(["train", "--config", "tiny.yaml", *settings, "--out", "run"]) == 0
    assert_only_the_first_layer_stays("")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--set", "network=nets:Net"], "remembers 8 numbers of a flow: ppo trains what has no memory"),
        (["--algo", "recurrent-ppo", "--set", "network=nets:Plain"], "network: goes with algo ppo"),
        (["--device", "cuda:7"], "--device cuda:7: PyTorch finds"),
        (["--track", "tensorbord"], "--track: 'tensorbord' is unknown; known are tensorboard, wandb, mlflow"),
    ],
)
def test_what_ppo_cannot_do_is_one_line(
    words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    algorithm = [] if "--algo" in words else ["--algo", "ppo"]
    assert main(["train", *algorithm, *words, "--out", "run"]) == 2
    told = capsys.readouterr().err
    assert complaint in told
    assert told.count("\n") == 1
    assert not Path("run").exists()


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [
        ("features=seen:Fore", "did you mean Four"),
        ("features=wide", "'wide' is unknown; known are indigo, scale_free, aurora, raw, and MODULE:NAME"),
        (
            "network=nets:Narrow",
            "step gave outputs of shape (3, 3), should give finite numbers of shape (flows, 1)",
        ),
        ("network=gone:Net", "No module named 'gone'"),
        ("oracle=nowhere", "and MODULE:NAME of your own"),
        ("links=paths:fast", "paths has no fast"),
        ("features=seen:Misspelt", "Misspelt.observe raised KeyError: 'rtt' (seen.py, line "),
        (
            "features=seen:Alone",
            "Alone(flows) raised TypeError: Alone.__init__() takes 1 positional argument",
        ),
        ("network=nets:Layered", "the state has shapes [(2, 3, 8)]"),
        (
            "network=nets:Flat",
            "the state has shapes [(3,)], after a step [(3,)]: should",
        ),
        ("network=nets:Batched", "BatchNorm1d: its answers depend on the batch or on chance"),
        ("network=nets:Beside", "step answers a flow otherwise when others are beside it"),
        ("network=nets:InPlace", "no gradient can be taken through 3 steps"),
        ("network=nets:Fixed", "no gradient can be taken through 3 steps"),
        ("network=nets:OutputsOnly", "step gave a Tensor, should give a tuple of outputs (flows, outputs)"),
        ("network=nets:Undefined", "step gave NaN or infinity, should give finite numbers"),
        ("oracle=right:divides", "oracle: right:divides raised ZeroDivisionError"),
        ("links=paths:gone", "links: gone: uplink.trace: "),
        ("links=paths:dead", "dead: uplink.loss is 1: nothing comes through"),
        ("links=paths:old", "links: the distribution raised AttributeError"),
        ("reward=worth:misspelt", "reward: raised KeyError: 'rtt_ms' (worth.py, line 5)"),
        ("reward=worth:ends", "reward: raised SystemExit:  (worth.py, line 11)"),
        ("reward=script:worth", "reward: importing script raised SystemExit: 0"),
        ("reward=worth:undefined", "reward: gave NaN or infinity, should give finite numbers"),
    ],
)
def test_a_seam_that_does_not_fit_is_one_line(
    setting: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    config = ["--algo", "ppo"] if setting.startswith("reward") else ["--config", "tiny.yaml"]
    assert main(["train", *config, "--set", setting, "--out", "run"]) == 2
    told = capsys.readouterr().err
    assert complaint in told
    assert told.count("\n") == 1
    assert not Path("run").exists()


def tiny(**options: Any) -> TrainingConfig:
    import yaml

    return TrainingConfig.model_validate(yaml.safe_load(TINY) | options)


@pytest.mark.parametrize("count", [1, 3])
def test_runs_in_python_are_the_native_ones(count: int, tmp_path: Path) -> None:
    config = tiny(companion=True, network="nets:Net", expert_iterations=0)
    network = make_policy(config, 30)
    assert isinstance(network, StackPolicy)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(0.3)  # so that windows stay small
    group = "shared" if count > 1 else "random"
    spec = select_emulators("synthetic/20mbps-40ms")[0].spec
    plan = draw_plan(config, 3, SharedPath(0, count, group, spec))
    file = tmp_path / "policy.safetensors"
    save_policy(file, network, PolicySpec("scale_free", "log_window", companion=True), trained_on="")
    native = roll_out_natively(config, _core.InferencePolicy(str(file)), state_size(network), plan)
    ours = roll_out_in_batch(config, BatchPolicy(network, "scale_free", "log_window", True), [plan])
    for name in ("observations", "acts", "labels", "states"):
        np.testing.assert_allclose(getattr(ours, name), getattr(native, name), atol=1e-3, err_msg=name)


@pytest.mark.parametrize(("architecture", "hidden"), [("mlp", (16,)), ("lstm", (8,))])
def test_our_networks_run_on_features_of_ones_own(architecture: str, hidden: tuple[int, ...]) -> None:
    config = tiny(features="seen:Four", architecture=architecture, hidden=hidden)
    network = make_policy(config, 4)
    spec = select_emulators("synthetic/20mbps-40ms")[0].spec
    plan = draw_plan(config, 3, SharedPath(0, 1, "random", spec))
    measured = roll_out_in_batch(config, BatchPolicy(network, "seen:Four", "log_window", False), [plan])
    assert measured.observations.shape == (1, 64, 4)
    assert measured.states.shape == (1, 4, 16 if architecture == "lstm" else 0)


@pytest.mark.parametrize("name", ["nets:Nested", "nets:Named"])
def test_a_memory_may_be_nested_as_one_likes(name: str) -> None:
    network = load_network(name, 30, 1, seed=1)
    policy = BatchPolicy(network, "scale_free", "log_window", False)
    path = select_emulators("synthetic/20mbps-40ms")[0].spec.to_path()
    rollout = BatchRollout(policy, [path] * 2, [1, 2], [0.5, 0.5], 2)
    for _ in range(5):
        rollout.step(rollout.decide()[1])
    assert type(rollout.state) is type(network.initial_state(1))  # type: ignore[operator]
    assert rollout.memory.shape == (2, state_size(network))
    again = unflat_state(rollout.state, torch.from_numpy(rollout.memory))
    assert flat_state(again).equal(flat_state(rollout.state))


def test_a_network_that_raises_in_a_rollout_is_one_line() -> None:
    network = load_network("nets:Late", 30, 1, seed=1)
    policy = BatchPolicy(network, "scale_free", "log_window", False)
    path = select_emulators("synthetic/20mbps-40ms")[0].spec.to_path()
    rollout = BatchRollout(policy, [path], [1], [0.5], 1)
    rollout._measured[:] = 7
    with pytest.raises(InputError, match=r"network: Late.step raised KeyError: 'seven' \(nets.py, line"):
        rollout.decide()


@pytest.mark.parametrize("name", ["nets:Skipping", "nets:Nested"])
def test_a_network_that_is_no_stack_stays_what_it_is(name: str) -> None:
    network = load_network(name, 5, 1, seed=1)
    assert not isinstance(network, StackPolicy)
    again = load_network(name, 5, 1, seed=1)
    assert all(tensor.equal(again.state_dict()[name]) for name, tensor in network.state_dict().items())


@pytest.mark.parametrize("seed", range(6))
def test_a_network_that_answers_by_chance_is_refused_by_whatever_seed(seed: int) -> None:
    with pytest.raises(InputError, match="step answers a flow otherwise when others are beside it, or by ch"):
        load_network("nets:ByChance", 5, 1, seed=seed)


def test_an_oracle_must_give_windows() -> None:
    from ccgym.training.experts import expert_windows

    Path("short.py").write_text("def none(spec, preference, steps):\n    return [1.0]\n")
    spec = select_emulators("calibrated/nepal")[0].spec
    with pytest.raises(InputError, match=r"gave shape \(1,\) for nepal, should give 5 windows"):
        expert_windows("short.py:none", spec, 0.5, 5)
    Path("odd.py").write_text("def none(spec, preference, steps):\n    return [float('nan')] * steps\n")
    with pytest.raises(
        InputError, match="gave NaN, infinity, or 0 and less for nepal, should give 5 windows"
    ):
        expert_windows("odd.py:none", spec, 0.5, 5)
    Path("turned.py").write_text("def none(spec, preference, steps):\n    return [1j] * steps\n")
    with pytest.raises(InputError, match="gave complex numbers for nepal, should give 5 windows"):
        expert_windows("turned.py:none", spec, 0.5, 5)
    assert len(expert_windows("right:ideal_windows", spec, 0.5, 5)) == 5
