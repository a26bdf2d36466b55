"""Policies by the name under which the package ships them, or by their files."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

from halidegym.agents.learned.policy_file import PolicyFile, load_policy_file
from halidegym.native._core import InvalidParameter, PolicyNetwork
from halidegym.native.checks import shown

_SHIPPED = Path(__file__).parent / "shipped"


def shipped_policies() -> tuple[str, ...]:
    """Names of the policies that come with the package."""
    return tuple(sorted(path.stem for path in _SHIPPED.glob("*.npz")))


def checked_policy(policy: object) -> str | Path:
    """The name or the path of a policy, without reading it.

    Raises:
        InvalidParameter: it is neither text nor a path.
    """
    if not isinstance(policy, str | Path):
        raise InvalidParameter(f"policy={shown(policy)} is no policy: give a name, or the path of a file")
    return policy


def policies_of(policy: object) -> tuple[str | Path, ...]:
    """The names and paths of one policy or of a sequence of them, without reading any.

    Raises:
        InvalidParameter: it is neither, or there are none.
    """
    if isinstance(policy, str | bytes) or not isinstance(policy, Sequence):
        return (checked_policy(policy),)
    if not policy:
        raise InvalidParameter(f"policy={shown(policy)} has none: give a name, or the path of a file, or several")
    return tuple(map(checked_policy, policy))


def load_policy(name_or_path: str | Path) -> PolicyFile:
    """Read a policy that comes with the package, or one from a file.

    Raises:
        InvalidParameter: there is neither a policy nor a file of this name.
        FormatError: the file is no policy, or one that cannot be used; see `load_policy_file`.
    """
    return load_policy_file(path_of(name_or_path))


def load_network(name_or_path: str | Path) -> PolicyNetwork:
    """Return the network of a policy, which is read again only when its file has changed.

    Raises:
        InvalidParameter, FormatError: see `load_policy`.
    """
    path = path_of(name_or_path).resolve()
    status = path.stat()
    return _network(path, status.st_mtime_ns, status.st_size, status.st_ino)


def load_networks(policy: str | Path | Sequence[str | Path]) -> list[PolicyNetwork]:
    """Return the network of a policy, or those of several.

    Raises:
        InvalidParameter, FormatError: see `load_policy`.
    """
    return [load_network(each) for each in policies_of(policy)]


@functools.lru_cache(maxsize=16)
def _network(path: Path, *_status: int) -> PolicyNetwork:
    return load_policy_file(path).network()


def path_of(name_or_path: str | Path) -> Path:
    """The file of a policy that comes with the package, or the path itself.

    Raises:
        InvalidParameter: there is neither a policy nor a file of this name.
    """
    checked_policy(name_or_path)
    if isinstance(name_or_path, str) and name_or_path in shipped_policies():
        return _SHIPPED / f"{name_or_path}.npz"
    if not Path(name_or_path).is_file():
        raise InvalidParameter(
            f"There is no policy {str(name_or_path)!r}: give one of {', '.join(shipped_policies())}, or the path of a file "
            "that `halidegym train` wrote"
        )
    return Path(name_or_path)
