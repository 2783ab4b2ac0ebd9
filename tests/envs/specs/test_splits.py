"""Training, validation and test never meet, whatever the seed."""

from itertools import combinations

import pytest
from ccgym.envs.errors import InputError
from ccgym.envs.specs.digest import spec_digest
from ccgym.envs.specs.emulators import emulator_groups, select_emulators
from ccgym.envs.specs.random_emulators import random_emulators
from ccgym.envs.specs.splits import Split


@pytest.mark.parametrize("seed", [1, 777, 1_000_001, 2**40])
def test_the_same_seed_gives_every_split_links_of_its_own(seed: int) -> None:
    digests = [{spec_digest(spec) for spec in random_emulators(300, seed, split)} for split in Split]
    assert [len(each) for each in digests] == [300, 300, 300]
    # Two slow even links with room for one packet may be equal by rounding; then the digest says so.
    assert all(len(one & other) <= 1 for one, other in combinations(digests, 2))


def test_random_links_are_test_links_unless_another_split_is_named() -> None:
    for selection, split in {
        "random:3:9": Split.TEST,
        "random:test:3:9": Split.TEST,
        "random:train:3:9": Split.TRAIN,
        "random:validation:3:9": Split.VALIDATION,
    }.items():
        selected = select_emulators(selection)
        assert [emulator.spec for emulator in selected] == random_emulators(3, 9, split)
        assert {emulator.split for emulator in selected} == {split}
    labels = {emulator.label for emulator in select_emulators("random:2,random:train:2")}
    assert labels == {"random/1-0", "random/1-1", "random-train/1-0", "random-train/1-1"}


def test_every_group_that_ships_belongs_to_a_split_and_no_link_to_two(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("CCGYM_TRACES", raising=False)
    splits: dict[str, set[Split | None]] = {}
    for name, group in emulator_groups().items():
        assert len({emulator.split for emulator in group} - {None}) == 1
        for emulator in group if name != "cellular" else []:
            splits.setdefault(spec_digest(emulator.spec), set()).add(emulator.split)
    assert all(len(found) == 1 for found in splits.values())


def test_an_unknown_split_is_told() -> None:
    with pytest.raises(InputError, match=r"random:exam:3: not random:N .* nor random:train:N"):
        select_emulators("random:exam:3")
