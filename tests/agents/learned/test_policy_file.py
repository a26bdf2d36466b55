"""Files of policies: what was written is read, and what does not fit is refused with the reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from halidegym.agents.learned.network_config import NetworkConfig
from halidegym.agents.learned.policy_file import PolicyFile, load_policy_file
from halidegym.native._core import FormatError, InvalidParameter
from halidegym.training.networks import PolicyNetwork as TorchNetwork
from halidegym.training.networks import policy_file

CONFIG = NetworkConfig(width=32, rounds=1)
ARRAYS = policy_file(TorchNetwork(CONFIG)).arrays


def saved(path: Path, **changes: Any) -> Path:
    """A file whose metadata has changes; None leaves a key out."""
    PolicyFile(CONFIG, ARRAYS, {"seed": 3}).save(path)
    with np.load(path) as npz:
        arrays = dict(npz)
    metadata = json.loads(bytes(arrays["metadata"])) | changes
    text = json.dumps({name: value for name, value in metadata.items() if value is not None})
    arrays["metadata"] = np.frombuffer(text.encode(), np.uint8)
    np.savez(path, **arrays)
    return path


def test_a_file_is_read_as_written(tmp_path: Path) -> None:
    policy = load_policy_file(saved(tmp_path / "policy.npz"))
    assert policy.config == CONFIG
    assert dict(policy.training) == {"seed": 3}
    assert policy.arrays.keys() == ARRAYS.keys()
    assert all(np.array_equal(policy.arrays[name], array) for name, array in ARRAYS.items())


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"version": 2}, "is of version 2, this halidegym has 1"),
        ({"version": None}, "is of version None"),
        ({"observation_version": 0}, "trained for observations of version 0"),
        ({"kind": "something else"}, "holds no policy"),
        ({"network": None}, "network"),
        ({"network": {"width": 60}}, "width=60 is no multiple of 16"),
        ({"network": {"width": "64"}}, "width"),
        ({"network": {"depth": 1}}, "depth"),
    ],
)
def test_metadata_that_does_not_fit(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(FormatError, match=reason):
        load_policy_file(saved(tmp_path / "policy.npz", **changes))


@pytest.mark.parametrize("part", [0, 0.3, 0.9, 0.999])
def test_truncated_files(tmp_path: Path, part: float) -> None:
    path = saved(tmp_path / "policy.npz")
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * part)])
    with pytest.raises(FormatError, match="truncated or no NumPy archive"):
        load_policy_file(path)


@pytest.mark.parametrize(("field", "value"), [(8, 1), (10, 99)], ids=["encrypted", "packed otherwise"])
def test_archives_that_cannot_be_unpacked(tmp_path: Path, field: int, value: int) -> None:
    path = saved(tmp_path / "policy.npz")
    data = bytearray(path.read_bytes())
    data[data.find(b"PK\x01\x02") + field] = value  # of the first entry of the archive's directory
    path.write_bytes(data)
    with pytest.raises(FormatError, match="truncated or no NumPy archive"):
        load_policy_file(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"none\.npz: No such file.*Check the path"):
        load_policy_file(tmp_path / "none.npz")


def test_other_archives(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", a=np.ones(3, np.float32))
    with pytest.raises(FormatError, match="holds no policy"):
        load_policy_file(tmp_path / "other.npz")
    np.savez(tmp_path / "pickles.npz", a=np.array([{}], object))
    with pytest.raises(FormatError, match="pickle"):
        load_policy_file(tmp_path / "pickles.npz")


def test_weights_that_are_no_numbers(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="not finite"):
        PolicyFile(NetworkConfig(), {"a": np.array([np.nan], np.float32)})
    path = saved(tmp_path / "policy.npz")
    with np.load(path) as npz:
        arrays = dict(npz)
    np.savez(path, **(arrays | {"blind.logit.bias": np.array([np.inf], np.float32)}))
    with pytest.raises(FormatError, match=r"blind\.logit\.bias of a policy has values that are not finite"):
        load_policy_file(path)
    np.savez(path, **(arrays | {"blind.logit.bias": np.ones(1)}))
    with pytest.raises(FormatError, match="float64; give float32"):
        load_policy_file(path)


def test_weights_that_do_not_fit_the_network(tmp_path: Path) -> None:
    path = saved(tmp_path / "policy.npz")
    with np.load(path) as npz:
        arrays = dict(npz)
    np.savez(path, **(arrays | {"blind.logit.bias": np.ones(2, np.float32)}))
    with pytest.raises(FormatError, match=r"policy\.npz: the array blind\.logit\.bias .*needs \[1\]"):
        load_policy_file(path)
    np.savez(path, **(arrays | {"more": np.ones(2, np.float32)}))
    with pytest.raises(FormatError, match="the network has no array more"):
        load_policy_file(path)
    del arrays["value_output.weight"]
    np.savez(path, **arrays)
    with pytest.raises(FormatError, match=r"no array value_output\.weight"):
        load_policy_file(path)
