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

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import TypeAdapter

    from triseek.service.verbs import Verb

TEXT_MAX = 64 << 10
"""Characters of one argument."""

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
}  # fmt: skip
"""Other names of arguments; they count where the tool has the argument and not the name."""
_VALUES: Mapping[str, Mapping[str, str]] = {
    "output_mode": {"files_with_matches": "files", "lines": "content"},
    "case": {"ignore": "insensitive", "ignorecase": "insensitive"},
    "mode": {"fixed": "literal", "text": "literal", "regexp": "regex"},
}
_IGNORED = frozenset(("-n", "line_numbers"))
"""Lines are numbered anyway."""


def read(verb: Verb, given: Mapping[str, Any] | None) -> Any:  # noqa: ANN401 - the verb's request
    """The request that is meant.

    Raises:
        InvalidQuery: an argument is missing, unknown or of the wrong kind.
    """
    from pydantic import ValidationError

    meant = _named(verb, dict(given or {}))
    for name, value in meant.items():
        if isinstance(value, str) and len(value) > TEXT_MAX:
            raise InvalidQuery(f"{name} has {len(value):,} characters, {TEXT_MAX:,} are allowed")
    try:
        return _adapter(verb).validate_python(meant)
    except ValidationError as error:
        raise InvalidQuery(_said(error), next_step="See the tool's input schema.") from None


@functools.cache
def _adapter(verb: Verb) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(verb.request)


def _named(verb: Verb, given: dict[str, Any]) -> dict[str, Any]:
    """The arguments under their own names, and their values as these have them."""
    fields = verb.request.__dataclass_fields__
    own = {name for name in fields if not name.startswith("_")}
    meant: dict[str, Any] = {}
    for name, value in given.items():
        if value is None or (name in _IGNORED and name not in own):
            continue
        target, value = _target(name, value, own)
        if target is None:
            raise InvalidQuery(_unknown(verb, name, own), next_step="See the tool's input schema.")
        if name == "regex" and isinstance(value, str):
            meant.setdefault("mode", "regex")
        if target not in meant or name in own:
            meant[target] = _value(target, value, str(fields[target].type))
    return _with_query(meant, own)


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
    if name == "regex" and "mode" in own:
        if isinstance(value, bool):
            return "mode", "regex" if value else "literal"
        return ("query" if "query" in own else "content_query"), value
    target = _ALIASES.get(name, "")
    target = target if target in own else _ALIASES.get(target, "")
    return (target, value) if target in own else (None, value)


def _is_true(value: object) -> bool:
    return value is True or (isinstance(value, str) and value.lower() == "true")


def _value(name: str, value: Any, kind: str) -> Any:  # noqa: ANN401 - JSON
    """A value as its argument has it, where there is no doubt."""
    if kind == "int" and isinstance(value, str) and value.strip().lstrip("-").isdigit():
        return int(value)
    if kind == "bool" and isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if kind.startswith("tuple["):
        return _listed(value)
    if kind == "str" and isinstance(value, list) and all(isinstance(one, str) for one in value):
        return " ".join(value)
    if isinstance(value, str):
        return _VALUES.get(name, {}).get(value, value)
    return value


def _listed(value: Any) -> Any:  # noqa: ANN401 - JSON
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return [value]
    return [value]


def _with_query(meant: dict[str, Any], own: set[str]) -> dict[str, Any]:
    """Several patterns and no query: the first of them is the query."""
    query = "content_query" if "content_query" in own else "query"
    patterns = meant.get("patterns")
    if query in own and query not in meant and isinstance(patterns, list) and patterns:
        return {**meant, query: patterns[0], "patterns": patterns[1:]}
    return meant


def _unknown(verb: Verb, name: str, own: set[str]) -> str:
    near = difflib.get_close_matches(name, own, 1)
    known = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(sorted(own)) or 'none'}"
    return f"{verb.name} has no argument {name[:60]!r}; {known}"


def _said(error: Any) -> str:  # noqa: ANN401 - pydantic's
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "arguments"
    more = error.error_count() - 1
    return f"{where}: {first['msg']}" + (f" (and {more} more)" if more else "")
