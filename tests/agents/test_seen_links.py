"""A policy file says which links it was trained and validated on."""

from pathlib import Path

import pytest
from ccgym.agents.mlp import MlpPolicy
from ccgym.agents.policy_file import load_policy, save_policy
from ccgym.agents.policy_header import PolicySpec
from ccgym.agents.seen_links import SeenLinks, read_seen_links
from ccgym.agents.shipped import policy_path, shipped_policies

SEEN = SeenLinks(frozenset({"AAAAAAAA", "BBBBBBBB"}), frozenset({"CCCCCCCC"}))


def save(file: Path, seen: SeenLinks | None) -> None:
    spec = PolicySpec(feature_set="scale_free", actions="log_window")
    save_policy(file, MlpPolicy(30, [4], 1), spec, trained_on="", seen=seen)


def test_a_policy_file_tells_what_it_has_seen(tmp_path: Path) -> None:
    save(tmp_path / "policy.safetensors", SEEN)
    assert read_seen_links(tmp_path / "policy.safetensors") == SEEN
    assert [SEEN.how(digest) for digest in ("BBBBBBBB", "CCCCCCCC", "DDDDDDDD")] == [
        "train",
        "validation",
        "no",
    ]
    load_policy(tmp_path / "policy.safetensors")  # it runs as before


def test_a_file_that_does_not_say_is_unknown(tmp_path: Path) -> None:
    save(tmp_path / "policy.safetensors", None)
    assert read_seen_links(tmp_path / "policy.safetensors") is None


def test_a_policy_that_is_trained_further_has_seen_what_the_first_one_had() -> None:
    more = SeenLinks(frozenset({"DDDDDDDD"}), frozenset())
    assert SEEN.with_those_of(more).train == {"AAAAAAAA", "BBBBBBBB", "DDDDDDDD"}


@pytest.mark.parametrize("name", shipped_policies())
def test_a_policy_that_ships_says_what_it_has_seen(name: str) -> None:
    seen = read_seen_links(policy_path(name))
    assert seen is not None
    assert seen.train
    assert seen.validation
