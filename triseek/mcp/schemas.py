"""JSON schemas of the tools' arguments and answers, as clients list them; kept small."""

from __future__ import annotations

import inspect
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    TypeAlias,
    TypedDict,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from triseek.history.requests import BOUNDS as HISTORY_BOUNDS
from triseek.history.requests import CONTRACT as HISTORY_CONTRACT
from triseek.memory.requests import BOUNDS as MEMORY_BOUNDS
from triseek.model.context_pack import BUDGET_TOKENS_MAX, FILES_MAX, INTENTS
from triseek.search import requests
from triseek.sessions.requests import RESUME_TOKENS_MAX, RESUME_TOKENS_MIN
from triseek.workflows.catalog.search import LIMIT_MAX as CAPABILITIES_MAX

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from triseek.model.tool import Tool


class JsonSchema(TypedDict, total=False):
    """The keywords of JSON Schema that tools use, all of them optional."""

    type: str
    description: str
    default: str | int | bool
    enum: list[str]
    minimum: int
    maximum: int
    items: JsonSchema
    properties: dict[str, JsonSchema]
    additionalProperties: bool
    required: list[str]


FieldTree: TypeAlias = "dict[str, FieldTree]"
"""Names of fields, each with those of its own fields."""

_BOUNDS: Mapping[str, JsonSchema] = {
    "limit": {"minimum": 1, "maximum": requests.LIMIT_MAX},
    "offset": {"minimum": 0},
    "context": {"minimum": 0, "maximum": requests.CONTEXT_MAX},
    "budget_tokens": {"minimum": 1, "maximum": BUDGET_TOKENS_MAX},
    "max_files": {"minimum": 1, "maximum": FILES_MAX},
    "intent": {"enum": list(INTENTS)},
    "search_capabilities.limit": {"minimum": 1, "maximum": CAPABILITIES_MAX},
    "session_resume.budget_tokens": {"minimum": RESUME_TOKENS_MIN, "maximum": RESUME_TOKENS_MAX},
}
"""Bounds of arguments as agents see them. A value outside is replaced by the nearest inside; those
of the history and memory tools are elsewhere, and a value outside is refused."""
_FRUGAL = frozenset(("history", "history-work"))
"""Toolsets of many tools, whose schemas leave out what agents can do without."""
_NAMES_MAX = 4
"""Most values of an enum in the schema of an answer; a field with more is typed as a string."""
TELLING_MIN = 16
"""Least characters of a description that says more than the name of its argument."""
_PLAIN = {str: "string", int: "integer", bool: "boolean", float: "number"}


def input_schema(tool: Tool, toolsets: Collection[str] | None = None) -> JsonSchema:
    """Return the schema of a tool's arguments.

    toolsets: Those that are offered; None for all arguments, whatever is offered.
    """
    from pydantic import TypeAdapter

    schema = TypeAdapter(tool.request).json_schema()
    # Not every client follows references, so they are replaced by what they name.
    definitions = schema.get("$defs", {})
    descriptions = _inherited(tool)
    is_content = issubclass(tool.request, requests.ContentOptions)
    shared = requests.ContentOptions.__dataclass_fields__ if is_content else ()
    properties: dict[str, JsonSchema] = {}
    for name in sorted(schema["properties"], key=lambda name: name in shared):
        needed = dict(tool.needs_toolset).get(name)
        if toolsets is not None and needed is not None and needed not in toolsets:
            continue
        body = {
            key: value
            for key, value in schema["properties"][name].items()
            if key != "title" and value not in ("", [])
        }
        if tool.toolset in _FRUGAL:
            body = _frugal(tool, name, body)
        reference = body.get("items", {}).get("$ref", "").rpartition("/")[2]
        if reference:
            body["items"] = _item(definitions[reference])
        if "$ref" in body:
            body = _plain_object(tool, definitions[body["$ref"].rpartition("/")[2]])
        if name in descriptions:
            body["description"] = descriptions[name]
        properties[name] = cast("JsonSchema", {**body, **_bounds(tool, name)})
    compact: JsonSchema = {"type": "object"}
    if properties:
        compact["properties"] = properties
    if tool.toolset not in _FRUGAL:  # whose errors name arguments that it does not have
        compact["additionalProperties"] = False
    if schema.get("required"):
        compact["required"] = schema["required"]
    return compact


def _frugal(tool: Tool, name: str, body: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an argument of a frugal toolset without what can be left out."""
    body = _without_the_obvious(body)
    if "items" in body:
        body["items"] = _without_the_obvious(body["items"])
    if name == "orderBy":  # whose default is what the tool's name suggests
        body.pop("default", None)
    if tool.name not in HISTORY_CONTRACT:
        body.pop("default", None)
        # Numbers of records are understood as texts, too.
        for choice in (body, body.get("items", {})):
            if "anyOf" in choice:
                del choice["anyOf"]
                choice["type"] = "string"
    return body


def _without_the_obvious(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema without what says nothing more: these tools have many arguments."""
    return {
        key: value
        for key, value in body.items()
        if not (key == "type" and "enum" in body)
        and not (key == "default" and (value is False or value == 0))
        and not (key == "description" and len(value) < TELLING_MIN)
    }


def _bounds(tool: Tool, name: str) -> JsonSchema:
    if tool.toolset in _FRUGAL:
        return _history_bounds(tool, name)
    if tool.toolset == "memory":
        bounds = MEMORY_BOUNDS.get(name)
        return {"minimum": bounds[0], "maximum": bounds[1]} if bounds else {}
    return _BOUNDS.get(f"{tool.name}.{name}") or _BOUNDS.get(name, {})


def _history_bounds(tool: Tool, name: str) -> JsonSchema:
    """Return the greatest value of a number; the least ones go without saying, and are enforced."""
    own = HISTORY_BOUNDS.get(f"{tool.name}.{name}") or HISTORY_BOUNDS.get(name)
    if own is None or own[1] is None or tool.name not in HISTORY_CONTRACT:
        return {}
    return {"maximum": own[1]}


def _item(schema: Mapping[str, Any]) -> JsonSchema:
    """Return the schema of an object in a list, without descriptions: field names must suffice."""
    fields: dict[str, JsonSchema] = {
        name: {"type": body["type"]} for name, body in schema["properties"].items()
    }
    return {"type": "object", "properties": fields, "required": schema["required"]}


def _plain_object(tool: Tool, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object of optional fields, of which only the names are listed."""
    if tool.toolset in _FRUGAL and tool.name not in HISTORY_CONTRACT:
        return {"type": "object"}
    return {"type": "object", "properties": {name: {} for name in schema["properties"]}}


def output_schema(tool: Tool) -> JsonSchema:
    """Return the schema of a tool's answer.

    It requires at most `version`, because an error has only `version` and `error`.
    """
    names = _tree(tool.listed.split())
    schema = _object(tool.results, names)
    if "version" in names:
        schema["required"] = ["version"]
    return schema


def _tree(names: Iterable[str]) -> FieldTree:
    """Return dotted names as a tree: `["a.b"]` becomes `{"a": {"b": {}}}`."""
    tree: FieldTree = {}
    for name in names:
        branch = tree
        for part in name.split("."):
            branch = branch.setdefault(part, {})
    return tree


def _object(types: Iterable[type[Any]], names: FieldTree) -> JsonSchema:
    """Return the schema of an object that is of one of some TypedDicts or dataclasses."""
    hints = {name: hint for each in types for name, hint in get_type_hints(each).items()}
    properties = {name: _value(hints[name], inner) for name, inner in names.items()}
    return {"type": "object", "properties": properties}


def _value(hint: Any, names: FieldTree) -> JsonSchema:  # noqa: ANN401 - any type
    """Return the schema of a field; for an object, with those of its fields that `names` lists."""
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if get_origin(hint) is Literal:
        values = list(get_args(hint))
        return {"enum": values} if len(values) <= _NAMES_MAX else {"type": "string"}
    if get_origin(hint) in (list, tuple):
        return {"type": "array", "items": _value(get_args(hint)[0], names)}
    return _object((hint,), names) if names else {"type": "object"}


def description(tool: Tool) -> str:
    """Return the description of a tool for agents."""
    return inspect.cleandoc(tool.request.__doc__ or "")


def _inherited(tool: Tool) -> Mapping[str, str]:
    """Return the descriptions of shared arguments; only the first tool has them, others {}."""
    from pydantic import TypeAdapter

    if tool.request is not requests.SearchContentRequest:
        return {}
    schema = TypeAdapter(requests.ContentOptions).json_schema()
    return {name: body["description"] for name, body in schema["properties"].items()}
