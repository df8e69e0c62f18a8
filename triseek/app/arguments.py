"""Reads the arguments of agents leniently.

Agents write the names that other search tools have taught them, whole numbers as `20.0` or `"20"`,
and lists as JSON in a string. What is unambiguous is accepted; anything else is refused by name: if
an argument were silently ignored, the answer would be to another question.
"""

from __future__ import annotations

import difflib
import functools
import json
import re
from typing import TYPE_CHECKING, Any

from triseek.errors import InvalidQuery
from triseek.model.plain_text import is_encodable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import TypeAdapter

    from triseek.model.tool import Tool

TEXT_MAX = 64 << 10
"""Most characters of one argument."""
ITEMS_MAX = 1_000
"""Most items of one argument."""

_ALIASES: Mapping[str, str] = {
    "pattern": "query", "search": "query", "q": "query",
    "include": "glob", "globs": "glob", "file_pattern": "glob", "includes": "glob",
    "file_type": "type", "types": "type", "language": "type",
    "directory": "path", "dir": "path", "folder": "path",
    "max_results": "limit", "head_limit": "limit", "max_count": "limit", "count": "limit",
    "-C": "context", "context_lines": "context", "-A": "context", "-B": "context",
    "whole_word": "word", "-w": "word", "-U": "multiline",
    "outputMode": "output_mode", "tokenBudget": "token_budget", "max_tokens": "token_budget",
    "forceRefresh": "force_refresh", "refresh": "force_refresh",
    "glob": "path_query", "path_glob": "path_query", "content": "content_query",
    "task": "goal", "description": "goal", "budgetTokens": "budget_tokens",
    "maxFiles": "max_files", "files": "changed_files",
    "objective": "goal", "session": "session_id", "sessionId": "session_id", "state": "status",
    "snapshot": "snapshot_id", "snapshotId": "snapshot_id", "token_budget": "budget_tokens",
    "harness": "source_harness", "sourceHarness": "source_harness",
    "model": "source_model", "sourceModel": "source_model",
    "pinned_snippets": "pinned_snippet_paths", "pinnedSnippetPaths": "pinned_snippet_paths",
    "snippets": "pinned_snippet_paths", "pins": "pinned_snippet_paths",
    "a": "snapshot_a", "from": "snapshot_a", "before": "snapshot_a", "snapshotA": "snapshot_a",
    "b": "snapshot_b", "to": "snapshot_b", "after": "snapshot_b", "snapshotB": "snapshot_b",
    "file": "filePath", "file_path": "filePath", "path": "filePath",
    "order_by": "orderBy", "sort": "orderBy", "date_range": "dateRange",
    "output_path": "output", "pack": "output", "pack_path": "output",
}  # fmt: skip
"""Other names of arguments; used if the tool has the argument but none of the other name."""
_IDS = ("session_id", "snapshot_id", "drawer_id")
"""What `id` stands for, if the tool has it."""
_PIN_ALIASES: Mapping[str, str] = {
    "file": "path", "file_path": "path", "filePath": "path", "filename": "path",
    "start": "line_start", "start_line": "line_start", "startLine": "line_start",
    "lineStart": "line_start", "from": "line_start",
    "end": "line_end", "end_line": "line_end", "endLine": "line_end",
    "lineEnd": "line_end", "to": "line_end",
}  # fmt: skip
_PLACE = re.compile(r"(?P<path>.+?)(?::|#L)(?P<first>\d{1,9})(?:-L?(?P<last>\d{1,9}))?")
_VALUES: Mapping[str, Mapping[str, str]] = {
    "output_mode": {"files_with_matches": "files", "lines": "content"},
    "case": {"ignore": "insensitive", "ignorecase": "insensitive"},
    "mode": {"fixed": "literal", "text": "literal", "regexp": "regex"},
    "status": {
        "any": "all", "active": "open", "done": "resolved", "completed": "resolved",
        "complete": "resolved", "finished": "resolved", "resolve": "resolved",
        "abandon": "abandoned", "cancelled": "abandoned", "canceled": "abandoned",
    },
}  # fmt: skip
_JOINED = frozenset(("glob", "type", "path_query"))
"""Arguments of several words, which may come as a list."""
_IGNORED = frozenset(("-n", "line_numbers"))
"""Lines are always numbered."""


def read(tool: Tool, raw: Mapping[str, Any] | None) -> Any:  # noqa: ANN401 - the tool's request
    """Return the tool's request for an agent's arguments, `raw`.

    Raises:
        InvalidQuery: an argument is missing, unknown or of the wrong kind.
    """
    from pydantic import ValidationError

    reader = _Reader(tool)
    for name, value in (raw or {}).items():
        reader.add(name, value)
    reader.fill_query()
    for name, value in reader.values.items():
        _bound(name, value)
    try:
        return _adapter(tool).validate_python(reader.values)
    except ValidationError as error:
        raise InvalidQuery(_message(error), next_step="See the tool's input schema.") from None


class _Reader:
    """Collects the arguments of a call under the tool's own names, in the tool's form."""

    def __init__(self, tool: Tool) -> None:
        self.values: dict[str, Any] = {}
        self._tool = tool
        self._fields = tool.request.__dataclass_fields__
        self._own = {name for name in self._fields if not name.startswith("_")}
        self._sources: dict[str, str] = {}
        """By an argument's own name: the name under which it was passed."""

    def add(self, name: str, value: Any) -> None:  # noqa: ANN401 - JSON
        """Add an argument under the name that the agent has used.

        Raises:
            InvalidQuery: The tool has no such argument, or has it already with another value.
        """
        if value is None or (name in _IGNORED and name not in self._own):
            return
        target, value = _target(name, value, self._own)
        if target is None:
            message = _unknown(self._tool, name, self._own)
            raise InvalidQuery(message, next_step="See the tool's input schema.")
        value = _value(target, value, str(self._fields[target].type))
        if target in self.values:
            value = _both(target, self._sources[target], self.values[target], name, value)
        self.values[target], self._sources[target] = value, name
        if name == "regex" and target != "mode":
            self.values.setdefault("mode", "regex")
            self._sources.setdefault("mode", name)

    def fill_query(self) -> None:
        """Take the first pattern as the query, if there is no query or it is a list."""
        query = "content_query" if "content_query" in self._own else "query"
        query_value, patterns = self.values.get(query), self.values.get("patterns", [])
        if "patterns" not in self._own:
            # find_files takes words.
            if isinstance(query_value, list) and all(isinstance(word, str) for word in query_value):
                self.values[query] = " ".join(query_value)
            return
        if isinstance(query_value, list) and isinstance(patterns, list):
            patterns, query_value = [*query_value, *patterns], None
        if query_value is None and isinstance(patterns, list) and patterns:
            self.values[query], self.values["patterns"] = patterns[0], patterns[1:]


def _bound(name: str, value: object) -> None:
    """Refuse a value that is too long, or holds text that cannot be encoded."""
    items = value if isinstance(value, (list, dict)) else [value]
    if len(items) > ITEMS_MAX:
        raise InvalidQuery(f"{name} has {len(items):,} items, {ITEMS_MAX:,} are allowed")
    leaves = (leaf for item in _values(value) for leaf in _values(item))
    text = "".join(leaf for leaf in leaves if isinstance(leaf, str))
    if len(text) > TEXT_MAX:
        raise InvalidQuery(f"{name} has {len(text):,} characters, {TEXT_MAX:,} are allowed")
    if not is_encodable(text):
        raise InvalidQuery(f"{name} holds half of a surrogate pair, which is no character")


def _values(value: object) -> list[Any]:
    """Return the items of a list, the keys and values of an object, or else the value itself."""
    if isinstance(value, dict):
        return [*value, *value.values()]
    return value if isinstance(value, list) else [value]


@functools.cache
def _adapter(tool: Tool) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(tool.request)


def _both(target: str, first: str, first_value: Any, second: str, second_value: Any) -> Any:  # noqa: ANN401
    """Return the value of an argument that was passed under two names."""
    if first_value == second_value:
        return first_value
    if target == "context" and isinstance(first_value, int) and isinstance(second_value, int):
        return max(first_value, second_value)
    raise InvalidQuery(
        f"{first} and {second} are both {target}, with different values",
        next_step=f"Pass {target} alone.",
    )


def _target(name: str, value: Any, own: set[str]) -> tuple[str | None, Any]:  # noqa: ANN401
    """Return the argument that a name stands for, or None, and its value."""
    if name in own:
        return name, value
    if "case" in own and name in ("-i", "ignore_case", "case_insensitive"):
        return "case", "insensitive" if _is_true(value) else "sensitive"
    if "case" in own and name == "case_sensitive":
        return "case", "sensitive" if _is_true(value) else "insensitive"
    if name in ("query", "pattern", "q", "search") and "content_query" in own:
        return "content_query", value
    if name == "regex" and "patterns" in own:
        if isinstance(value, bool) or str(value).lower() in ("true", "false"):
            return "mode", "regex" if _is_true(value) else "literal"
        return ("query" if "query" in own else "content_query"), value
    if name == "id":
        return next((only for only in _IDS if only in own), None), value
    target = _ALIASES.get(name, "")
    target = target if target in own else _ALIASES.get(target, "")
    return (target, value) if target in own else (None, value)


def _is_true(value: object) -> bool:
    return value is True or (isinstance(value, str) and value.lower() == "true")


def _value(name: str, value: Any, kind: str) -> Any:  # noqa: ANN401 - JSON
    """Return a value in the form of its argument, where that is unambiguous."""
    if kind == "int":
        return _whole(value)
    if kind == "tuple[PinnedLines, ...]":
        return _pins(_listed(value))
    if kind == "DateRange" or kind.startswith("dict["):
        return _object(value)
    if kind.startswith("tuple["):
        return [value] if type(value) is int else _listed(value)
    if name in _JOINED and isinstance(value, (list, str)):
        listed = _listed(value) if isinstance(value, str) else value
        if all(isinstance(word, str) for word in listed):
            return " ".join(listed)
    if isinstance(value, str):
        return _VALUES.get(name, {}).get(value, value)
    return value


def _whole(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Return a whole number if the value is text for one; true and false are not numbers."""
    if isinstance(value, bool):
        return str(value)
    try:
        return int(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _listed(value: Any) -> Any:  # noqa: ANN401 - JSON
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        try:
            items = json.loads(value)
        except (ValueError, RecursionError):
            return [value]
        return items if isinstance(items, list) else [value]
    return [value]


def _object(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Return the object if the value is text for one."""
    try:
        parsed = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value
    return parsed if isinstance(parsed, dict) else value


def _pins(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Return each item of lines to pin with its fields under their own names.

    Agents write fields under several names, or `src/a.rs:40-80`. What is no item is left.
    """
    items = [value] if isinstance(value, dict) else value
    return [_pin(item) for item in items] if isinstance(items, list) else value


def _pin(item: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(item, str):
        place = _PLACE.fullmatch(item)
        if place is None:
            return item
        first = int(place["first"])
        last = int(place["last"] or first)
        return {"path": place["path"], "line_start": first, "line_end": last}
    if not isinstance(item, dict):
        return item
    pin = {}
    for name, value in item.items():
        own = _PIN_ALIASES.get(name, name)
        # Another name stands for the field, unless the field itself is present as well.
        pin[name if own in item else own] = value if own == "path" else _whole(value)
    return pin


def _unknown(tool: Tool, name: str, own: set[str]) -> str:
    near = difflib.get_close_matches(name, own, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(sorted(own)) or 'none'}"
    return f"{tool.name} has no argument {name[:60]!r}; {hint}"


def _message(error: Any) -> str:  # noqa: ANN401 - pydantic's
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "arguments"
    more = error.error_count() - 1
    return f"{where}: {first['msg']}" + (f" (and {more} more)" if more else "")
