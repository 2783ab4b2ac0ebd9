"""The keys of queues in a spec are the parameters of the twin's queues."""

import pickle
from typing import Any

import pytest
from ccgym.envs import _core
from ccgym.envs.specs.link_spec import LinkSpec
from pydantic import ValidationError

QUEUES = dict(_core.known_queues())
KEYS = [(queue, key) for queue, keys in QUEUES.items() for key in keys]
BEYOND = 2_000_000
VALUES = {_core.QueueValue.flag: True, _core.QueueValue.whole: 20, _core.QueueValue.real: 0.5}


def link(queue: str, **given: Any) -> LinkSpec:
    """With all that the queue takes, upper thresholds above lower ones."""
    keys = {key.name: VALUES[key.value] for key in QUEUES[queue]}
    if "max_threshold_packets" in keys:
        keys["max_threshold_packets"] = 40
    return LinkSpec.model_validate({"rate_mbps": 12, "queue": queue, "packets": 100, **keys, **given})


@pytest.mark.parametrize("queue", [queue for queue, keys in QUEUES.items() if keys])
def test_what_a_queue_takes_reaches_the_twin(queue: str) -> None:
    spec = link(queue)
    assert spec.queue_parameters.keys() == {key.name for key in QUEUES[queue]}
    assert pickle.loads(pickle.dumps(spec)) == spec
    spec.to_link()


@pytest.mark.parametrize(("queue", "key"), KEYS, ids=lambda part: getattr(part, "name", part))
def test_a_value_of_another_type_or_out_of_bounds_is_refused(queue: str, key: _core.QueueKey) -> None:
    with pytest.raises(ValidationError, match=f"{key.name}\n.*should be a valid"):
        link(queue, **{key.name: "much"})
    beyond = "should be a valid boolean" if key.value is _core.QueueValue.flag else "is not within"
    with pytest.raises(ValidationError, match=f"{key.name}\n.*{beyond}"):
        link(queue, **{key.name: BEYOND})


def test_a_key_of_several_queues_has_one_default_and_one_range() -> None:
    shared: dict[str, tuple[object, ...]] = {}
    for _, key in KEYS:
        assert shared.setdefault(key.name, (key.value, key.least, key.most)) == (
            key.value,
            key.least,
            key.most,
        )


def test_integers_and_booleans_of_another_type_are_refused() -> None:
    with pytest.raises(ValidationError, match="valid integer"):
        link("codel", target_ms=1.5)
    with pytest.raises(ValidationError, match="valid boolean"):
        link("codel", ecn=1)
