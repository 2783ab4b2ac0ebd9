"""The policy file: what is written comes back, and what cannot be run is refused with one line."""

import json
import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from ccgym.agents.lstm import LstmPolicy
from ccgym.agents.mlp import MlpPolicy
from ccgym.agents.policy_file import load_policy, save_policy
from ccgym.agents.policy_header import Limits, PolicyFileError, PolicySpec
from ccgym.envs import _core
from ccgym.tests.full_disk import no_file_longer_than
from safetensors import safe_open
from safetensors.torch import save, save_file

CONVERT = Path(__file__).with_name("convert_weights.py")
PACKAGES = Path(__file__).resolve().parents[2] / ".pkg"

Metadata = dict[str, Any]
Tensors = dict[str, torch.Tensor]

SPEC = PolicySpec("indigo", "indigo", step_ms=20.0, initial_cwnd=12.0, limits=Limits(3.0, 400.0))


def small_policy(inputs: int = 9, outputs: int = 5) -> LstmPolicy:
    torch.manual_seed(1)
    return LstmPolicy(inputs, 3, outputs)


@pytest.fixture
def policy_file(tmp_path: Path) -> Path:
    path = tmp_path / "policy.safetensors"
    save_policy(path, small_policy(), SPEC, trained_on="nothing")
    return path


def read_raw(path: Path) -> tuple[Metadata, Tensors]:
    with safe_open(path, framework="pt") as file:
        return json.loads(file.metadata()["ccgym"]), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


def refusal(path: Path) -> str:
    """What load_policy says of the file, without the file's name, after checking that it is one line."""
    with pytest.raises(PolicyFileError) as caught:
        load_policy(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message.removeprefix(f"{path}: ")


def test_a_saved_policy_comes_back_with_its_weights_and_its_spec(policy_file: Path) -> None:
    module, spec = load_policy(policy_file)
    for name, tensor in small_policy().state_dict().items():
        assert torch.equal(module.state_dict()[name], tensor)
    assert (spec.feature_set, spec.actions, spec.step_ms, spec.initial_cwnd) == ("indigo", "indigo", 20, 12)
    assert spec.limits == SPEC.limits
    assert spec.trained_on == "nothing"


@pytest.mark.parametrize("feature_set", sorted(_core.POLICY_FEATURES))
@pytest.mark.parametrize("actions", sorted(_core.POLICY_ACTIONS))
def test_every_feature_set_goes_with_every_action_set(tmp_path: Path, feature_set: str, actions: str) -> None:
    path = tmp_path / "policy.safetensors"
    module = small_policy(len(_core.POLICY_FEATURES[feature_set]), _core.POLICY_ACTIONS[actions])
    save_policy(path, module, PolicySpec(feature_set, actions), trained_on="nothing")
    assert load_policy(path)[1].feature_set == feature_set


def test_a_policy_without_memory_comes_back_too(tmp_path: Path) -> None:
    path = tmp_path / "policy.safetensors"
    torch.manual_seed(2)
    module = MlpPolicy(30, [32, 16], 1)
    save_policy(path, module, PolicySpec("aurora", "rate"), trained_on="nothing")
    loaded, _ = load_policy(path)
    assert isinstance(loaded, MlpPolicy)
    for name, tensor in module.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], tensor)


@pytest.mark.parametrize(
    ("hidden", "message"),
    [
        (3, "hidden is 3, should be the sizes of up to 16 layers"),
        ([3, 0], "hidden is 0, should be a whole number from 1 to 4096"),
        ([3], 'unknown tensor "layers.2.bias", which the architecture has not'),
    ],
)
def test_a_policy_without_memory_is_checked_too(tmp_path: Path, hidden: Any, message: str) -> None:
    path = tmp_path / "policy.safetensors"
    save_policy(path, MlpPolicy(9, [3, 2], 5), SPEC, trained_on="nothing")
    metadata, tensors = read_raw(path)
    metadata["architecture"]["hidden"] = hidden
    save_file(tensors, path, {"ccgym": json.dumps(metadata)})
    assert refusal(path) == message


def test_the_metadata_is_the_documented_format(policy_file: Path) -> None:
    metadata, tensors = read_raw(policy_file)
    assert metadata["format_version"] == 1
    assert metadata["architecture"] == {"kind": "lstm", "inputs": 9, "hidden": 3, "outputs": 5}
    assert metadata["normalisers"] == [200, 200, 200, 5000, 1, 1, 1, 1, 1]
    assert {name: tuple(tensor.shape) for name, tensor in tensors.items()} == {
        "lstm.weight_ih_l0": (12, 9),
        "lstm.weight_hh_l0": (12, 3),
        "lstm.bias_ih_l0": (12,),
        "lstm.bias_hh_l0": (12,),
        "linear.weight": (5, 3),
        "linear.bias": (5,),
    }


def test_saving_what_cannot_be_run_leaves_the_old_file_alone(policy_file: Path) -> None:
    before = policy_file.read_bytes()
    with pytest.raises(PolicyFileError, match="inputs is 8, should be 9"):
        save_policy(policy_file, small_policy(inputs=8), SPEC, trained_on="nothing")
    assert policy_file.read_bytes() == before
    assert list(policy_file.parent.iterdir()) == [policy_file]


def test_a_policy_for_which_there_is_no_room_is_named(policy_file: Path) -> None:
    before = policy_file.read_bytes()
    with no_file_longer_than(100), pytest.raises(OSError, match="large") as raised:
        save_policy(policy_file, small_policy(), SPEC, trained_on="nothing")
    assert raised.value.filename == str(policy_file)
    assert policy_file.read_bytes() == before
    assert list(policy_file.parent.iterdir()) == [policy_file]


def test_saving_leaves_no_temporary_files(policy_file: Path) -> None:
    assert list(policy_file.parent.iterdir()) == [policy_file]


def test_bare_weights_become_a_policy(tmp_path: Path) -> None:
    save_file(small_policy().state_dict(), tmp_path / "weights.safetensors", {"source": "elsewhere"})
    command = [
        sys.executable,
        str(CONVERT),
        str(tmp_path / "weights.safetensors"),
        str(tmp_path / "policy.safetensors"),
    ]
    subprocess.run(command, env=os.environ | {"PYTHONPATH": str(PACKAGES)}, check=True, timeout=120)
    module, spec = load_policy(tmp_path / "policy.safetensors")
    assert torch.equal(module.state_dict()["linear.bias"], small_policy().linear.bias)
    assert spec.trained_on == "converted from weights.safetensors"


def test_every_truncation_is_refused(policy_file: Path) -> None:
    whole = policy_file.read_bytes()
    for size in range(len(whole)):
        policy_file.write_bytes(whole[:size])
        assert refusal(policy_file).startswith("truncated")


def test_a_header_that_claims_more_than_the_file_has_is_refused(policy_file: Path) -> None:
    whole = policy_file.read_bytes()
    for claimed in (len(whole), 2**31, 2**63, 2**64 - 1):
        policy_file.write_bytes(struct.pack("<Q", claimed) + whole[8:])
        assert f"the header should have {claimed} bytes, only {len(whole) - 8} follow" in refusal(policy_file)


def test_what_is_no_safetensors_file_is_refused(policy_file: Path) -> None:
    policy_file.write_bytes(struct.pack("<Q", 4) + b"nono")
    assert refusal(policy_file) == "the header should be a JSON object, as in safetensors"


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / "nowhere") == "cannot be read: No such file or directory"
    assert refusal(tmp_path) == "is a folder, should be a policy file"


Edit = Callable[[Metadata, Tensors], object]
Change = Callable[[torch.Tensor], torch.Tensor]


def edit(entry: str, value: Any) -> Edit:
    """Sets a metadata entry, `outer/inner` for a nested one."""

    def apply(metadata: Metadata, _: Tensors) -> None:
        *outer, name = entry.split("/")
        (metadata[outer[0]] if outer else metadata)[name] = value

    return apply


def edit_tensor(
    name: str, change: Callable[[torch.Tensor], torch.Tensor]
) -> Callable[[Metadata, Tensors], None]:
    def apply(_: Metadata, tensors: Tensors) -> None:
        tensors[name] = change(tensors[name]).contiguous()

    return apply


def with_entry(value: float) -> Change:
    def change(tensor: torch.Tensor) -> torch.Tensor:
        changed = tensor.clone()
        changed.view(-1)[-1] = value
        return changed

    return change


REFUSED: dict[str, tuple[Edit, str]] = {
    "another format version": (edit("format_version", 2), "format_version is 2, should be 1"),
    "an unknown feature set": (edit("feature_set", "sonar"), "unknown feature set 'sonar': known are indigo"),
    "a feature set of control characters": (
        edit("feature_set", "\x7f\x9b\u202e" + 100 * "a"),
        r"unknown feature set '\u007f\u009b\u202eaaaaa",
    ),
    "a feature set of no name": (edit("feature_set", 3), "feature_set is 3, should be a name"),
    "an unknown action set": (edit("actions", "guess"), "unknown action set 'guess': known are indigo"),
    "an unknown architecture": (
        edit("architecture/kind", "gru"),
        'architecture kind is "gru", should be "lstm", "mlp" or "stack"',
    ),
    "other inputs": (edit("architecture/inputs", 16), "inputs is 16, should be 9"),
    "other outputs": (edit("architecture/outputs", 1), "outputs is 1, should be 5"),
    "another width": (edit("architecture/hidden", 4), "lstm.weight_ih_l0 is [12,9], should be [16,9]"),
    "no width": (edit("architecture/hidden", "wide"), 'hidden is "wide", should be a whole number from 1'),
    "a huge width": (
        edit("architecture/hidden", 2**62),
        "hidden is 4611686018427387904, should be a whole number from 1",
    ),
    "half a unit": (edit("architecture/hidden", 3.5), "hidden is 3.5, should be a whole number"),
    "other normalisers": (
        edit("normalisers", [200, 200, 200, 1000, 1, 1, 1, 1, 1]),
        "normalisers are [200,200,200,1000,1,1,1,1,1], should be [200.0,200.0,200.0,5000.0,",
    ),
    "too few normalisers": (
        edit("normalisers", [200]),
        "normalisers are 1 numbers, should be 9, as many as the feature set indigo has entries",
    ),
    "no step": (edit("step_ms", 0), "step_ms is 0, should be a number"),
    "an initial window below the limit": (
        edit("initial_cwnd", 2),
        "initial_cwnd is 2, should be a number from 3",
    ),
    "crossed limits": (
        edit("limits/max_cwnd_packets", 2),
        "max_cwnd_packets is 2, should be a number from 3",
    ),
    "limits of another kind": (
        edit("limits", 7),
        "limits should be an object with min_cwnd_packets",
    ),
    "an entry too many": (
        edit("dropout", 0.1),
        "metadata 'ccgym' has \"dropout\", known are format_version",
    ),
    "an entry too few": (
        lambda metadata, _: metadata.pop("git"),
        "metadata 'ccgym' has no 'git'",
    ),
    "a missing tensor": (lambda _, tensors: tensors.pop("linear.bias"), "tensor linear.bias is missing"),
    "a strange tensor": (
        lambda _, tensors: tensors.update({"lstm.weight_ih_l1": torch.zeros(12, 3)}),
        'unknown tensor "lstm.weight_ih_l1"',
    ),
    "another dtype": (
        edit_tensor("linear.bias", lambda tensor: tensor.double()),
        'dtype of tensor linear.bias is "F64", should be "F32"',
    ),
    "a transposed tensor": (
        edit_tensor("lstm.weight_ih_l0", lambda tensor: tensor.T),
        "shape of tensor lstm.weight_ih_l0 is [9,12], should be [12,9]",
    ),
    "a NaN": (
        edit_tensor("linear.weight", with_entry(float("nan"))),
        "tensor linear.weight has an entry",
    ),
    "an infinity": (
        edit_tensor("lstm.bias_hh_l0", with_entry(float("-inf"))),
        "tensor lstm.bias_hh_l0 has an entry",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_policy_with_it_is_refused_naming_it(policy_file: Path, case: str) -> None:
    change, expected = REFUSED[case]
    metadata, tensors = read_raw(policy_file)
    change(metadata, tensors)
    save_file(tensors, policy_file, {"ccgym": json.dumps(metadata)})
    assert expected in refusal(policy_file)


@pytest.mark.parametrize("metadata", [None, {}, {"format": "pt"}])
def test_a_file_of_weights_alone_is_refused(policy_file: Path, metadata: dict[str, str] | None) -> None:
    save_file(read_raw(policy_file)[1], policy_file, metadata)
    assert refusal(policy_file).startswith("the header has no metadata 'ccgym'")


@pytest.mark.parametrize("text", ["", "[]", "3", "{", "nonsense"])
def test_metadata_that_is_no_object_is_refused(policy_file: Path, text: str) -> None:
    save_file(read_raw(policy_file)[1], policy_file, {"ccgym": text})
    assert refusal(policy_file).startswith("metadata 'ccgym' should be an object with format_version")


def patch_header(path: Path, tensor: str, entry: str, value: Any) -> None:
    whole = path.read_bytes()
    (length,) = struct.unpack("<Q", whole[:8])
    header = json.loads(whole[8 : 8 + length])
    header[tensor][entry] = value
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + whole[8 + length :])


@pytest.mark.parametrize(
    "offsets",
    [[0], [0, -20], [-20, 0], [20, 0], [0, 10**9], [2**63, 2**63 + 20], [2**64 - 20, 2**64 - 1], None],
)
def test_offsets_that_are_no_range_of_the_data_are_refused(policy_file: Path, offsets: Any) -> None:
    patch_header(policy_file, "linear.bias", "data_offsets", offsets)
    assert "tensor linear.bias" in refusal(policy_file)


def test_offsets_of_another_length_than_the_shape_are_refused(policy_file: Path) -> None:
    patch_header(policy_file, "linear.bias", "data_offsets", [0, 16])
    assert refusal(policy_file) == "size in bytes of tensor linear.bias is 16, should be 20"


def test_tensors_of_the_same_bytes_are_refused(policy_file: Path) -> None:
    whole = policy_file.read_bytes()
    (length,) = struct.unpack("<Q", whole[:8])
    place = json.loads(whole[8 : 8 + length])["lstm.bias_ih_l0"]["data_offsets"]
    patch_header(policy_file, "lstm.bias_hh_l0", "data_offsets", place)
    assert refusal(policy_file) == "tensors lstm.bias_ih_l0 and lstm.bias_hh_l0 overlap"


def test_tensors_that_overlap_in_part_are_refused(policy_file: Path) -> None:
    patch_header(policy_file, "linear.bias", "data_offsets", [4, 24])
    assert "should be" in refusal(policy_file)


def test_metadata_that_is_no_text_is_refused(policy_file: Path) -> None:
    patch_header(policy_file, "__metadata__", "other", 1)
    assert refusal(policy_file) == "metadata 'other' is 1, should be text"


def test_data_after_the_tensors_is_refused(policy_file: Path) -> None:
    metadata, tensors = read_raw(policy_file)
    policy_file.write_bytes(save(tensors, {"ccgym": json.dumps(metadata)}) + b"more")
    assert refusal(policy_file) == "size in bytes of the data is 756, should be 752"


@pytest.mark.parametrize("key", ["normalisers", "architecture", "actions", "limits", "more"])
def test_metadata_nested_without_end_is_refused(policy_file: Path, key: str) -> None:
    metadata, tensors = read_raw(policy_file)
    nested = json.dumps(metadata | {key: 0}).replace(
        f'"{key}": 0', f'"{key}": {"[" * 100_000}{"]" * 100_000}'
    )
    save_file(tensors, policy_file, {"ccgym": nested})
    assert refusal(policy_file) == "its JSON is nested deeper than 16"


def test_a_header_nested_without_end_is_refused(tmp_path: Path) -> None:
    header = b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    path = tmp_path / "policy.safetensors"
    path.write_bytes(struct.pack("<Q", len(header)) + header)
    assert refusal(path) == "its JSON is nested deeper than 16"


@pytest.mark.parametrize("before_and_after", [(b"", b"\0\0"), (b"\xef\xbb\xbf", b"")])
def test_a_header_that_is_not_all_json_is_refused(
    policy_file: Path, before_and_after: tuple[bytes, bytes]
) -> None:
    content = policy_file.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = content[8 : 8 + length].join(before_and_after)
    policy_file.write_bytes(struct.pack("<Q", len(header)) + header + content[8 + length :])
    assert refusal(policy_file) == "the header should be a JSON object, as in safetensors"


def test_a_long_value_is_quoted_in_part(policy_file: Path) -> None:
    metadata, tensors = read_raw(policy_file)
    save_file(tensors, policy_file, {"ccgym": json.dumps(metadata | {"normalisers": "ä" * 10_000})})
    assert len(refusal(policy_file)) < 300


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    path = Path("/dev/zero") if kind == "device" else tmp_path / "pipe"
    if kind == "pipe":
        os.mkfifo(path)
    assert refusal(path) == "is no regular file, should be a policy file"
