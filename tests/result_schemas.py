"""JSON schemas of what tools answer, strict: every field is known, and no other is there."""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from typing import Any, Literal, NotRequired, get_args, get_origin, get_type_hints

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from triseek.app.registry import TOOLS

PLAIN = {str: "string", int: "integer", bool: "boolean", float: "number"}


def strict(*results: type) -> dict[str, Any]:
    """The schema of an answer that is one of these results."""
    return {"anyOf": [_object(one) for one in results]}


def _object(one: type) -> dict[str, Any]:
    hints = get_type_hints(one, include_extras=True)
    plain = {name: _unmarked(hint) for name, hint in hints.items()}
    optional = {name for name, hint in plain.items() if get_origin(hint) is NotRequired}
    if dataclasses.is_dataclass(one):
        optional = set()
    return {
        "type": "object",
        "properties": {name: _value(hint) for name, hint in plain.items()},
        "required": sorted(hints.keys() - optional),
        "additionalProperties": False,
    }


def _unmarked(hint: Any) -> Any:
    return hint.__origin__ if hasattr(hint, "__metadata__") else hint


def _value(hint: Any) -> dict[str, Any]:
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return {}
    if hint in PLAIN:
        return {"type": PLAIN[hint]}
    if origin is NotRequired:
        return _value(inner[0])
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (list, tuple):
        return {"type": "array", "items": _value(inner[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": _value(inner[1])}
    if origin in (types.UnionType, typing.Union):
        return {"anyOf": [_value(one) for one in inner]}
    if hint is types.NoneType:
        return {"type": "null"}
    return _object(hint)


@functools.cache
def _validator(tool: str) -> Draft202012Validator:
    [results] = [each.results for each in TOOLS if each.name == tool]
    return Draft202012Validator(strict(*results))


def check(tool: str, answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer of a tool; fail if it is neither an error nor one of the tool's results."""
    if "error" not in answer:
        error = best_match(_validator(tool).iter_errors(answer))
        assert error is None, f"{tool} at {error.json_path}: {error.message}"
    return answer
