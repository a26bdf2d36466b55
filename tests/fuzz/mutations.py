"""Random damage to bytes and to JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Mutation = Callable[[bytes, np.random.Generator], bytes]

# What readers are likely to stumble over in the place of something else.
_VALUES = (
    None,
    True,
    -1,
    0,
    1,
    2**31,
    2**64,
    10**400,
    0.5,
    float("nan"),
    float("inf"),
    "",
    "x",
    "\ud800",
    [],
    [0],
    {},
    {"x": 0},
)
_BYTES = (0x00, 0x01, 0x7F, 0x80, 0xFF)


def mutate(data: bytes, rng: np.random.Generator) -> bytes:
    """One to three mutations of the bytes."""
    for _ in range(rng.integers(1, 4)):
        data = _BYTE_MUTATIONS[rng.integers(len(_BYTE_MUTATIONS))](data, rng)
    return data


def scatter(data: bytes, rng: np.random.Generator) -> bytes:
    """Change one byte in fifty."""
    bytes_ = np.frombuffer(data, np.uint8).copy()
    positions = rng.integers(len(data), size=len(data) // 50)
    bytes_[positions] = rng.integers(256, size=len(positions))
    return bytes_.tobytes()


def mutate_json(value: Any, rng: np.random.Generator) -> Any:
    """The value with one of its parts, at any depth, replaced, left out, doubled or renamed."""
    if not isinstance(value, dict | list) or not value or rng.random() < 0.1:
        return _VALUES[rng.integers(len(_VALUES))]
    if isinstance(value, list):
        index, copy = int(rng.integers(len(value))), list(value)
        match rng.integers(6):
            case 0:
                del copy[index]
            case 1:
                copy.insert(index, copy[index])
            case _:
                copy[index] = mutate_json(copy[index], rng)
        return copy
    name = list(value)[rng.integers(len(value))]
    rest = {other: entry for other, entry in value.items() if other != name}
    match rng.integers(6):
        case 0:
            return rest
        case 1:
            return {**rest, name + "x": value[name]}
        case _:
            return {**value, name: mutate_json(value[name], rng)}


def _flip_a_bit(data: bytes, rng: np.random.Generator) -> bytes:
    start = _position(data, rng)
    return data[:start] + bytes(byte ^ 1 << rng.integers(8) for byte in data[start : start + 1]) + data[start + 1 :]


def _change_a_byte(data: bytes, rng: np.random.Generator) -> bytes:
    start = _position(data, rng)
    byte = _BYTES[rng.integers(len(_BYTES))] if rng.random() < 0.5 else int(rng.integers(256))
    return data[:start] + bytes([byte]) + data[start + 1 :]


def _truncate(data: bytes, rng: np.random.Generator) -> bytes:
    return data[: _position(data, rng)]


def _insert(data: bytes, rng: np.random.Generator) -> bytes:
    start = _position(data, rng)
    return data[:start] + rng.bytes(int(rng.integers(1, 17))) + data[start:]


def _delete(data: bytes, rng: np.random.Generator) -> bytes:
    start = _position(data, rng)
    return data[:start] + data[start + int(rng.integers(1, 17)) :]


def _swap_blocks(data: bytes, rng: np.random.Generator) -> bytes:
    first, second, third = sorted(_position(data, rng) for _ in range(3))
    return data[:first] + data[second:third] + data[first:second] + data[third:]


def _overwrite_a_block(data: bytes, rng: np.random.Generator) -> bytes:
    start = _position(data, rng)
    block = rng.bytes(int(rng.integers(2, 65)))
    return data[:start] + block + data[start + len(block) :]


def _position(data: bytes, rng: np.random.Generator) -> int:
    return int(rng.integers(max(1, len(data))))


_BYTE_MUTATIONS: tuple[Mutation, ...] = (
    _flip_a_bit,
    _flip_a_bit,
    _change_a_byte,
    _change_a_byte,
    _truncate,
    _insert,
    _delete,
    _swap_blocks,
    _overwrite_a_block,
)
