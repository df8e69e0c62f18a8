"""The tools as clients list them: schemas of arguments and answers, small enough to carry along."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from triseek.model import tools
from triseek.model.context_pack import BUDGET_TOKENS_MAX, FILES_MAX, INTENTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from triseek.model.tool import Tool

_BOUNDS: Mapping[str, Mapping[str, Any]] = {
    "limit": {"minimum": 1, "maximum": tools.LIMIT_MAX},
    "offset": {"minimum": 0},
    "context": {"minimum": 0, "maximum": tools.CONTEXT_MAX},
    "budget_tokens": {"minimum": 1, "maximum": BUDGET_TOKENS_MAX},
    "max_files": {"minimum": 1, "maximum": FILES_MAX},
    "intent": {"enum": list(INTENTS)},
}
"""What agents are asked to keep to; what lies beyond is taken as the nearest within."""
_BOUNDS_OF: Mapping[tuple[str, str], Mapping[str, Any]] = {
    ("session_resume", "budget_tokens"): {
        "minimum": tools.RESUME_TOKENS_MIN, "maximum": tools.RESUME_TOKENS_MAX,
    },
}  # fmt: skip
"""Those of one tool's argument."""
_NAMES_MAX = 4
"""Names that the schema of an answer lists; a field with more is listed as a string."""
_PLAIN = {str: "string", int: "integer", bool: "boolean", float: "number"}


def input_schema(tool: Tool) -> dict[str, Any]:
    """The arguments of a tool."""
    from pydantic import TypeAdapter

    schema = TypeAdapter(tool.request).json_schema()
    told = _inherited(tool)
    properties = {
        name: {**_property(name, body, told), **_BOUNDS_OF.get((tool.name, name), {})}
        for name, body in _ordered(_spelled_out(schema), tool)
    }
    found = {"type": "object", "properties": properties, "additionalProperties": False}
    if not properties:
        del found["properties"]
    if schema.get("required"):
        found["required"] = schema["required"]
    return found


def _spelled_out(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The properties of a schema, without references: not every client follows them."""
    named = schema.get("$defs", {})
    properties = {}
    for name, body in schema["properties"].items():
        reference = body.get("items", {}).get("$ref", "").rpartition("/")[2]
        properties[name] = {**body, "items": _item(named[reference])} if reference else body
    return properties


def _item(schema: Mapping[str, Any]) -> dict[str, Any]:
    """An object in a list; the names of its fields have to say what they are."""
    fields = {name: {"type": body["type"]} for name, body in schema["properties"].items()}
    return {"type": "object", "properties": fields, "required": schema["required"]}


def output_schema(tool: Tool) -> dict[str, Any]:
    """What a tool answers. An error has `version` and `error`, so no more than that is promised."""
    names = _tree(tool.listed.split())
    schema = _object(_hints(*tool.results), names)
    return {**schema, "required": ["version"]} if "version" in names else schema


def _tree(names: Iterable[str]) -> dict[str, Any]:
    """Dotted names as a tree: `["a.b"]` is `{"a": {"b": {}}}`."""
    tree: dict[str, Any] = {}
    for name in names:
        branch = tree
        for part in name.split("."):
            branch = branch.setdefault(part, {})
    return tree


def _hints(*types: type[Any]) -> dict[str, Any]:
    """The fields of TypedDicts or dataclasses, and their types."""
    return {name: hint for one in types for name, hint in get_type_hints(one).items()}


def _object(hints: Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, Any]:
    properties = {name: _value(hints[name], inner) for name, inner in names.items()}
    return {"type": "object", "properties": properties}


def _value(hint: Any, names: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - any type
    """The schema of a field; of an object, with those of its own fields that are named."""
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if get_origin(hint) is Literal:
        values = list(get_args(hint))
        return {"enum": values} if len(values) <= _NAMES_MAX else {"type": "string"}
    if get_origin(hint) in (list, tuple):
        return {"type": "array", "items": _value(get_args(hint)[0], names)}
    return _object(_hints(hint), names) if names else {"type": "object"}


def description(tool: Tool) -> str:
    """What an agent is told a tool is for."""
    return inspect.cleandoc(tool.request.__doc__ or "")


def _ordered(properties: Mapping[str, Any], tool: Tool) -> list[tuple[str, Any]]:
    """A tool's own arguments before those it shares with others."""
    shared = _shared(tool)
    return sorted(properties.items(), key=lambda item: item[0] in shared)


def _shared(tool: Tool) -> frozenset[str]:
    is_content = issubclass(tool.request, tools.ContentOptions)
    return frozenset(tools.ContentOptions.__dataclass_fields__) if is_content else frozenset()


def _inherited(tool: Tool) -> Mapping[str, str]:
    """Descriptions of shared arguments; told once, for the tool that comes first."""
    from pydantic import TypeAdapter

    if tool.request is not tools.SearchContentRequest:
        return {}
    schema = TypeAdapter(tools.ContentOptions).json_schema()
    return {name: body["description"] for name, body in schema["properties"].items()}


def _property(name: str, body: Mapping[str, Any], told: Mapping[str, str]) -> dict[str, Any]:
    kept = {key: value for key, value in body.items() if key != "title" and value not in ("", [])}
    if name in told:
        kept["description"] = told[name]
    return {**kept, **_BOUNDS.get(name, {})}
