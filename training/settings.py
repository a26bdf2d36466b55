"""Settings of the training commands: YAML files, read strictly, so that a slip of the pen does not cost a night."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Literal, TypeVar

import pydantic
import yaml

from halidegym.native._core import InvalidParameter
from halidegym.native.checks import shown

CONFIGS = Path(__file__).parent / "configs"
"""The folder of the shipped files; a command takes their names without the ending."""


class Settings(pydantic.BaseModel):
    """Base of all settings: immutable, and nothing unknown, missing, of another type or out of range passes."""

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class TrainingSettings(Settings):
    """What each training of a network has.

    Attributes:
        seed: of everything random.
        device: "auto" for a GPU where there is one.
        threads: that compute, at most one for each usable core; None for all of these.
        wandb_project: to log to Weights & Biases, too.
    """

    seed: int = pydantic.Field(ge=0, lt=2**32)
    device: Literal["auto", "cpu", "cuda"] = "auto"
    threads: int | None = pydantic.Field(default=None, ge=1)
    wandb_project: str | None = None

    @property
    def num_threads(self) -> int:
        """How many threads that are."""
        usable = len(os.sched_getaffinity(0))
        return min(self.threads or usable, usable)


class _Loader(yaml.SafeLoader):
    """Reads YAML as the standard has it: no key stands twice in one mapping."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.constructor.ConstructorError(None, None, f"{key} is given twice", node.start_mark)
        return super().construct_mapping(node, deep)


# Numbers as YAML 1.2 has them; by YAML 1.1, which PyYAML reads, 1e-3 is a text.
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+$"), list("-+0123456789")
)

S = TypeVar("S", bound=Settings)


def load_settings(kind: type[S], source: str | os.PathLike[str], folder: Path = CONFIGS) -> S:
    """Read settings.

    Args:
        kind: which ones.
        source: the name of a shipped file, such as "data-smoke", or a path.
        folder: of the shipped files.

    Raises:
        InvalidParameter: there is no such file, it is no YAML, or a setting is unknown, missing, or out of range.
    """
    path = folder / f"{os.fspath(source)}.yaml"
    path = path if path.is_file() else Path(source)
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except OSError as error:
        shipped = ", ".join(sorted(file.stem for file in folder.glob("*.yaml")))
        raise InvalidParameter(
            f"Cannot read the configuration {path}: {error.strerror}. Give the path of a YAML file, or one of {shipped}"
        ) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # of dates that are none, for instance
        raise InvalidParameter(f"{path} is no YAML: {' '.join(str(error).split())}. Correct it there") from error
    return parse_settings(kind, {} if content is None else content, os.fspath(path))


def parse_settings(kind: type[S], content: Any, origin: str) -> S:
    """Check settings that were read from `origin`.

    Raises:
        InvalidParameter: a setting is unknown, missing, or out of range.
    """
    try:
        return kind.model_validate(content)
    except pydantic.ValidationError as error:
        raise InvalidParameter(f"{origin}: {'; '.join(_sentences(kind, error))}") from error


def _sentences(kind: type[Settings], error: pydantic.ValidationError) -> list[str]:
    sentences = []
    for detail in error.errors(include_url=False):
        name = ".".join(map(str, detail["loc"])) or "the file"
        reason = detail["msg"].removeprefix("Value error, ")
        if detail["type"] == "extra_forbidden":
            sentences.append(f"{name} is no setting; leave it out, or give one of {', '.join(_names(kind))}")
        elif detail["type"] == "missing":
            sentences.append(f"{name} is missing; give it a value")
        elif detail["type"] == "value_error" and not detail["loc"]:
            sentences.append(reason)  # that settings do not fit each other, which it names
        else:
            sentences.append(f"{name}={shown(detail['input'])}: {reason[:1].lower()}{reason[1:]}")
    return sentences


def _names(kind: type[Settings], prefix: str = "") -> list[str]:
    """The names of all settings, those of groups with the group's name before them."""
    names = []
    for name, field in kind.model_fields.items():
        group = field.annotation
        if isinstance(group, type) and issubclass(group, Settings):
            names += _names(group, f"{prefix}{name}.")
        else:
            names.append(prefix + name)
    return names
