"""Files of policies: a NumPy archive of named weights and a text that describes them, with nothing that executes code."""

from __future__ import annotations

import dataclasses
import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halidegym.agents.learned.network_config import NetworkConfig
from halidegym.native._core import FormatError, InvalidParameter, PolicyNetwork
from halidegym.native.checks import checked_path
from halidegym.native.fields import checked_fields
from halidegym.native.files import write_atomically

#: Of the file's layout.
VERSION = 1
#: Of what a network is shown: to be raised when the meaning of any column changes.
OBSERVATION_VERSION = 1

_KIND = "halidegym policy"
_METADATA = "metadata"
_MAX_BYTES = 1 << 28
#: What files do not tell that are older than the setting.
_BEFORE = {"use_demands": False}


@dataclass(frozen=True)
class PolicyFile:
    """A policy as a file holds it.

    Attributes:
        config: of its network.
        arrays: its weights in float32, by the name of the parameter.
        training: how it came about, as JSON can hold it.
    """

    config: NetworkConfig
    arrays: Mapping[str, NDArray[np.float32]]
    training: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "arrays", MappingProxyType(dict(self.arrays)))
        object.__setattr__(self, "training", MappingProxyType(dict(self.training)))
        for name, array in self.arrays.items():
            if array.dtype != np.float32:
                raise InvalidParameter(f"The array {name} of a policy is {array.dtype}; give float32")
            if not np.isfinite(array).all():
                raise InvalidParameter(
                    f"The array {name} of a policy has values that are not finite: its training has diverged. Train it "
                    "anew, with a lower learning rate, say"
                )

    def network(self) -> PolicyNetwork:
        """The network that runs these weights.

        Raises:
            InvalidParameter: weights are missing, or of other shapes.
        """
        return PolicyNetwork(dict(self.arrays), **dataclasses.asdict(self.config))

    def save(self, path: str | Path) -> None:
        """Write the file in one step.

        Raises:
            InvalidParameter: `path` is none.
            OSError: it cannot be written.
        """
        metadata = {
            "kind": _KIND,
            "version": VERSION,
            "observation_version": OBSERVATION_VERSION,
            "network": dataclasses.asdict(self.config),
            "training": dict(self.training),
        }
        text = json.dumps(metadata, allow_nan=False).encode()
        contents: dict[str, Any] = {_METADATA: np.frombuffer(text, np.uint8), **self.arrays}
        file = io.BytesIO()
        np.savez_compressed(file, **contents)
        write_atomically(checked_path("path", path), file.getvalue())


def load_policy_file(path: str | Path) -> PolicyFile:
    """Read a policy from the file that :meth:`PolicyFile.save` wrote.

    Raises:
        InvalidParameter: `path` is none.
        FormatError: the file cannot be read, is truncated or of another kind or version, its weights are missing, of
            other shapes or not finite, or it was trained for other observations.
    """
    source = checked_path("path", path)
    try:
        with source.open("rb") as file, zipfile.ZipFile(file) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
            if size > _MAX_BYTES:
                raise FormatError(f"{path} would unpack to {size} bytes, which no policy has; check the path")
            file.seek(0)
            with np.load(file, allow_pickle=False) as npz:
                arrays = {name: npz[name] for name in npz.files}
    except OSError as error:
        raise FormatError(f"Cannot read a policy from {path}: {error.strerror or error}. Check the path.") from error
    except (zipfile.BadZipFile, zlib.error, ValueError, EOFError, KeyError, RuntimeError) as error:
        raise FormatError(
            f"Cannot read a policy from {path}: it is truncated or no NumPy archive ({error}); copy or train it anew"
        ) from error
    metadata = _metadata(path, arrays.pop(_METADATA, None))
    try:
        config = checked_fields(NetworkConfig(**_BEFORE | metadata["network"]))
        policy = PolicyFile(config, arrays, metadata["training"])
        policy.network()
        return policy
    except (InvalidParameter, KeyError, TypeError, ValueError) as error:
        raise FormatError(f"Cannot use the policy in {path}: {error}. Train or download it anew.") from error


def _metadata(path: str | Path, text: NDArray[Any] | None) -> dict[str, Any]:
    try:
        metadata = json.loads(bytes(text)) if text is not None else None
    except (ValueError, RecursionError):
        metadata = None
    if not isinstance(metadata, dict) or metadata.get("kind") != _KIND:
        raise FormatError(f"{path} holds no policy of halidegym; give a file that `halidegym train` wrote")
    for name, ours, of in (
        ("version", VERSION, "is of version"),
        ("observation_version", OBSERVATION_VERSION, "was trained for observations of version"),
    ):
        if metadata.get(name) != ours:
            raise FormatError(
                f"The policy in {path} {of} {metadata.get(name)}, this halidegym has {ours}; "
                "use the release that wrote it, or train it anew"
            )
    return metadata
