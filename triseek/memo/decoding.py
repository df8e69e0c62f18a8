"""Decodes JSON into the types that it was written from, and refuses everything else.

A type is a `TypedDict` (further keys are ignored), a list or tuple of such types, `X | None`, or
one of str, int (from 0), float (finite), bool and object (anything).
"""

from __future__ import annotations

import functools
from math import isfinite
from types import UnionType
from typing import Any, NotRequired, get_args, get_origin, get_type_hints, is_typeddict


def decode(kind: Any, value: object) -> Any:  # noqa: ANN401 - a value of `kind`
    """Return a JSON value as a value of a type.

    Raises:
        TypeError: The value, or one in it, is of another type.
        ValueError: A key or an item is missing, or a number is out of bounds.
    """
    inner = get_args(kind)
    if is_typeddict(kind):
        return _decode_object(kind, value)
    if get_origin(kind) is UnionType:
        return None if value is None else decode(inner[0], value)
    if get_origin(kind) in (list, tuple):
        return _decode_items(kind, inner, value)
    if kind is float and type(value) is int:
        value = float(value)
    if kind is not object and type(value) is not kind:
        raise TypeError(f"{kind.__name__} expected, not {type(value).__name__}")
    if (kind is int and value < 0) or (kind is float and not isfinite(value)):  # type: ignore[operator, arg-type]
        raise ValueError(f"{value!r:.40} is out of bounds")
    return value


def _decode_items(kind: Any, inner: tuple[Any, ...], value: object) -> Any:  # noqa: ANN401
    if not isinstance(value, list):
        raise TypeError(f"a list expected, not {type(value).__name__}")
    if get_origin(kind) is list:
        return [decode(inner[0], item) for item in value]
    if inner[-1] is Ellipsis:
        return tuple(decode(inner[0], item) for item in value)
    return tuple(decode(one, item) for one, item in zip(inner, value, strict=True))


def _decode_object(kind: type, value: object) -> Any:  # noqa: ANN401
    if not isinstance(value, dict):
        raise TypeError(f"an object expected, not {type(value).__name__}")
    decoded = {}
    for name, (field, is_required) in _fields(kind).items():
        if name in value:
            decoded[name] = decode(field, value[name])
        elif is_required:
            raise ValueError(f"{name} is missing")
    return decoded


@functools.cache
def _fields(kind: type) -> dict[str, tuple[Any, bool]]:
    """Return the type of each field, and whether it is required."""
    hints = get_type_hints(kind, include_extras=True)
    return {
        name: (get_args(hint)[0], False) if get_origin(hint) is NotRequired else (hint, True)
        for name, hint in hints.items()
    }
