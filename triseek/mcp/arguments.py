"""An agent's arguments, taken as they are meant.

Agents write the names other search tools have taught them, whole numbers as `20.0` or `"20"`, and
lists as JSON in a string. What is meant beyond doubt is taken; what is not is refused by name: an
argument that is silently ignored makes an answer to another question.
"""

from __future__ import annotations

import difflib
import functools
import json
from typing import TYPE_CHECKING, Any

from triseek.errors import InvalidQuery
from triseek.mcp import pinned_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import TypeAdapter

    from triseek.model.tool import Tool

TEXT_MAX = 64 << 10
"""Characters of one argument."""
ITEMS_MAX = 1_000
"""Items of one."""

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
    "output_path": "output", "pack": "output", "pack_path": "output",
}  # fmt: skip
"""Other names of arguments; they count where the tool has the argument and not the name."""
_VALUES: Mapping[str, Mapping[str, str]] = {
    "output_mode": {"files_with_matches": "files", "lines": "content"},
    "case": {"ignore": "insensitive", "ignorecase": "insensitive"},
    "mode": {"fixed": "literal", "text": "literal", "regexp": "regex"},
    "status": {
        "any": "all",
        "active": "open",
        "done": "resolved",
        "completed": "resolved",
        "complete": "resolved",
        "finished": "resolved",
        "resolve": "resolved",
        "abandon": "abandoned",
        "cancelled": "abandoned",
        "canceled": "abandoned",
    },
}
_JOINED = frozenset(("glob", "type", "path_query"))
"""Arguments of several words, which may come as a list."""
_IGNORED = frozenset(("-n", "line_numbers"))
"""Lines are numbered anyway."""


def read(tool: Tool, given: Mapping[str, Any] | None) -> Any:  # noqa: ANN401 - the tool's request
    """The request that is meant.

    Raises:
        InvalidQuery: an argument is missing, unknown or of the wrong kind.
    """
    from pydantic import ValidationError

    meant = _named(tool, dict(given or {}))
    for name, value in meant.items():
        _bound(name, value)
    try:
        return _adapter(tool).validate_python(meant)
    except ValidationError as error:
        raise InvalidQuery(_said(error), next_step="See the tool's input schema.") from None


def _bound(name: str, value: object) -> None:
    """Refuse what is longer than anybody means."""
    items = value if isinstance(value, (list, dict)) else [value]
    if len(items) > ITEMS_MAX:
        raise InvalidQuery(f"{name} has {len(items):,} items, {ITEMS_MAX:,} are allowed")
    texts = [text for item in _values(value) for text in _values(item)]
    length = sum(len(text) for text in texts if isinstance(text, str))
    if length > TEXT_MAX:
        raise InvalidQuery(f"{name} has {length:,} characters, {TEXT_MAX:,} are allowed")
    for text in texts:
        if isinstance(text, str) and not _is_text(text):
            raise InvalidQuery(f"{name} holds half of a surrogate pair, which is no character")


def _values(value: object) -> list[Any]:
    """What a list or an object holds, or what is neither."""
    if isinstance(value, dict):
        return [*value, *value.values()]
    return value if isinstance(value, list) else [value]


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@functools.cache
def _adapter(tool: Tool) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(tool.request)


def _named(tool: Tool, given: dict[str, Any]) -> dict[str, Any]:
    """The arguments under their own names, and their values as these have them."""
    fields = tool.request.__dataclass_fields__
    own = {name for name in fields if not name.startswith("_")}
    meant: dict[str, Any] = {}
    said: dict[str, str] = {}
    for name, value in given.items():
        if value is None or (name in _IGNORED and name not in own):
            continue
        target, value = _target(name, value, own)
        if target is None:
            raise InvalidQuery(_unknown(tool, name, own), next_step="See the tool's input schema.")
        taken = _value(target, value, str(fields[target].type))
        if target in meant:
            taken = _both(target, said[target], meant[target], name, taken)
        meant[target], said[target] = taken, name
        if name == "regex" and target != "mode":
            meant.setdefault("mode", "regex")
            said.setdefault("mode", name)
    return _with_query(meant, own)


def _both(target: str, first: str, one: Any, second: str, other: Any) -> Any:  # noqa: ANN401
    """What two names of one argument mean together."""
    if one == other:
        return one
    if target == "context" and isinstance(one, int) and isinstance(other, int):
        return max(one, other)
    raise InvalidQuery(
        f"{first} and {second} are both {target}, with different values",
        next_step=f"Pass {target} alone.",
    )


def _target(name: str, value: Any, own: set[str]) -> tuple[str | None, Any]:  # noqa: ANN401
    """Which argument is meant, and with what value."""
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
        return next((only for only in ("session_id", "snapshot_id") if only in own), None), value
    target = _ALIASES.get(name, "")
    target = target if target in own else _ALIASES.get(target, "")
    return (target, value) if target in own else (None, value)


def _is_true(value: object) -> bool:
    return value is True or (isinstance(value, str) and value.lower() == "true")


def _value(name: str, value: Any, kind: str) -> Any:  # noqa: ANN401 - JSON
    """A value as its argument has it, where there is no doubt."""
    if kind == "int":
        return _whole(value)
    if kind == "tuple[PinnedLines, ...]":
        return pinned_lines.read(_listed(value))
    if kind.startswith("tuple["):
        return _listed(value)
    if name in _JOINED and isinstance(value, (list, str)):
        listed = _listed(value) if isinstance(value, str) else value
        if all(isinstance(one, str) for one in listed):
            return " ".join(listed)
    if isinstance(value, str):
        return _VALUES.get(name, {}).get(value, value)
    return value


def _whole(value: Any) -> Any:  # noqa: ANN401 - JSON
    """A whole number where one is meant; true and false are none."""
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
            found = json.loads(value)
        except (ValueError, RecursionError):
            return [value]
        return found if isinstance(found, list) else [value]
    return [value]


def _with_query(meant: dict[str, Any], own: set[str]) -> dict[str, Any]:
    """Several patterns and no query, or several queries: the first of them is the query."""
    query = "content_query" if "content_query" in own else "query"
    asked, patterns = meant.get(query), meant.get("patterns", [])
    if "patterns" not in own:
        # find_files takes words.
        if isinstance(asked, list) and all(isinstance(word, str) for word in asked):
            return {**meant, query: " ".join(asked)}
        return meant
    if isinstance(asked, list) and isinstance(patterns, list):
        patterns, asked = [*asked, *patterns], None
    if asked is None and isinstance(patterns, list) and patterns:
        return {**meant, query: patterns[0], "patterns": patterns[1:]}
    return meant


def _unknown(tool: Tool, name: str, own: set[str]) -> str:
    near = difflib.get_close_matches(name, own, 1)
    known = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(sorted(own)) or 'none'}"
    return f"{tool.name} has no argument {name[:60]!r}; {known}"


def _said(error: Any) -> str:  # noqa: ANN401 - pydantic's
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "arguments"
    more = error.error_count() - 1
    return f"{where}: {first['msg']}" + (f" (and {more} more)" if more else "")
