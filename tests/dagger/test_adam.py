"""Our optimiser is PyTorch's to the bit, goes on where it stopped, and imports no compiler."""

import subprocess
import sys

import pytest
import torch
from ccgym.dagger.adam import Adam
from ccgym.envs.errors import InputError

SHAPES = ((16, 30), (16,), (3, 16))
STEPS = 5


def parameters() -> list[torch.nn.Parameter]:
    generator = torch.Generator().manual_seed(1)
    return [torch.nn.Parameter(torch.randn(shape, generator=generator)) for shape in SHAPES]


def step(optimiser: Adam | torch.optim.Adam, moved: list[torch.nn.Parameter], number: int) -> None:
    generator = torch.Generator().manual_seed(100 + number)
    for parameter in moved:
        parameter.grad = torch.randn(parameter.shape, generator=generator)
    optimiser.step()


def rate(number: int) -> float:
    return 3e-3 / (1 + number)


def test_every_step_is_pytorchs() -> None:
    ours, theirs = parameters(), parameters()
    our_adam = Adam(ours, weight_decay=0.01)
    their_adam = torch.optim.Adam(theirs, lr=rate(0), weight_decay=0.01, fused=True)
    for number in range(STEPS):
        our_adam.learning_rate = their_adam.param_groups[0]["lr"] = rate(number)
        step(our_adam, ours, number)
        step(their_adam, theirs, number)
        assert all(torch.equal(a, b) for a, b in zip(ours, theirs, strict=True))


def test_it_goes_on_from_its_state() -> None:
    whole, first = parameters(), parameters()
    through, before = Adam(whole, weight_decay=0.0), Adam(first, weight_decay=0.0)
    second = Adam(first, weight_decay=0.0)
    for number in range(STEPS):
        if number == 2:
            second.load_state_dict(before.state_dict())
        for optimiser, moved in ((through, whole), (before if number < 2 else second, first)):
            optimiser.learning_rate = rate(number)
            step(optimiser, moved, number)
    assert all(torch.equal(a, b) for a, b in zip(whole, first, strict=True))


def test_a_state_of_pytorchs_is_refused() -> None:
    theirs = torch.optim.Adam(parameters(), fused=True)
    with pytest.raises(InputError, match="another optimiser: begin another run with --out"):
        Adam(parameters(), weight_decay=0.0).load_state_dict(theirs.state_dict())


def test_it_imports_no_compiler() -> None:
    program = """
import sys, torch
from ccgym.dagger.adam import Adam
parameter = torch.nn.Parameter(torch.ones(2))
parameter.grad = torch.ones(2)
adam = Adam([parameter], weight_decay=0.0)
adam.learning_rate = 0.1
adam.step()
assert parameter[0] < 1 and "torch._dynamo" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
