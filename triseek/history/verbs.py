"""The operations of the history by name, with their parameters checked.

The daemon offers each as the verb `history_NAME`. What an operation needs is imported with its
first call: clients read the names alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

from triseek.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from triseek.history.requests import By
    from triseek.history.service import History

Operation: TypeAlias = "Callable[[History, Mapping[str, Any]], dict[str, Any]]"
TEXT_MAX = 8_000
NAMES_MAX = 1_000


def _search(history: History, params: Mapping[str, Any]) -> dict[str, Any]:
    from triseek.history import operations

    reply = operations.search(
        history,
        _text(params, "query"),
        cast("By", _text(params, "by") or "session"),
        _number(params, "limit", 10),
        _text(params, "agent"),
        _text(params, "project"),
        _number(params, "since_ms", 0),
    )
    return dict(reply)


def _show(history: History, params: Mapping[str, Any]) -> dict[str, Any]:
    from triseek.history import operations

    return dict(operations.show(history, _text(params, "session")))


def _stats(history: History, _params: Mapping[str, Any]) -> dict[str, Any]:
    from triseek.history import operations

    return dict(operations.stats(history))


def _forget(history: History, params: Mapping[str, Any]) -> dict[str, Any]:
    from triseek.history import operations

    names = list(_names(params, "ids"))
    project, dry_run = _text(params, "project"), params.get("dry_run") is True
    return dict(operations.forget(history, names, project, dry_run=dry_run))


def _fix(history: History, params: Mapping[str, Any]) -> dict[str, Any]:
    from triseek.history import operations

    limit = _number(params, "limit", 5)
    return dict(operations.fix(history, _text(params, "error"), _text(params, "project"), limit))


def _how(history: History, params: Mapping[str, Any]) -> dict[str, Any]:
    from triseek.history import operations

    limit = _number(params, "limit", 8)
    return dict(operations.how(history, _text(params, "command"), _text(params, "project"), limit))


def _blame(history: History, params: Mapping[str, Any]) -> dict[str, Any]:
    from triseek.history import operations

    return dict(operations.blame(history, _text(params, "path"), _number(params, "limit", 20)))


def _friction(history: History, params: Mapping[str, Any]) -> dict[str, Any]:
    from triseek.history import operations

    since_ms, limit = _number(params, "since_ms", 0), _number(params, "limit", 10)
    return dict(operations.friction(history, _text(params, "project"), since_ms, limit))


def _timeline(history: History, params: Mapping[str, Any]) -> dict[str, Any]:
    from triseek.history import tool_calls

    return tool_calls.timeline(
        history, _text(params, "root"), _text(params, "around"), _text(params, "project"),
        _number(params, "before", 10), _number(params, "after", 10),
    )  # fmt: skip


def _observations(history: History, params: Mapping[str, Any]) -> dict[str, Any]:
    from triseek.history import tool_calls

    return tool_calls.observations(
        history, _text(params, "root"), _text(params, "query"), _text(params, "project"),
        _number(params, "since_ms", 0), _number(params, "limit", 10), _text(params, "agent"),
    )  # fmt: skip


def _record(history: History, params: Mapping[str, Any]) -> dict[str, Any]:
    from triseek.history import tool_calls

    return tool_calls.record(history, _text(params, "root"), _text(params, "id"))


def _remember(history: History, params: Mapping[str, Any]) -> dict[str, Any]:
    from triseek.history import tool_calls

    return tool_calls.remember(
        history, _text(params, "root"), _text(params, "text"), title=_text(params, "title"),
        type_=_text(params, "type") or "discovery", concepts=_names(params, "concepts"),
        files=_names(params, "files"), project=_text(params, "project"),
        pin=params.get("pin") is True,
    )  # fmt: skip


def _supersede(history: History, params: Mapping[str, Any]) -> dict[str, Any]:
    from triseek.history import tool_calls

    number, title = _number(params, "id", 0), _text(params, "title")
    return tool_calls.supersede(
        history, _text(params, "root"), number, _text(params, "text"), title
    )


def _pin(history: History, params: Mapping[str, Any]) -> dict[str, Any]:
    from triseek.history import tool_calls

    on = params.get("on") is not False
    return tool_calls.pin(history, _text(params, "root"), _number(params, "id", 0), on=on)


def _browse(history: History, params: Mapping[str, Any]) -> dict[str, Any]:
    from triseek.history.browsing import listing
    from triseek.history.browsing.selection import ListingFilters

    names = ("agent", "project", "day", "type")
    filters = ListingFilters(**{name: _text(params, name) for name in names})
    query, kind = _text(params, "query"), _text(params, "kind")
    offset, limit = _number(params, "offset", 0), _number(params, "limit", 50)
    return dict(listing.browse(history, query, kind, filters, offset, limit))


def _overview(history: History, params: Mapping[str, Any]) -> dict[str, Any]:
    from triseek.history.browsing import overview

    return dict(overview.overview(history, _text(params, "agent"), _text(params, "project")))


def _conversation(history: History, params: Mapping[str, Any]) -> dict[str, Any]:
    from triseek.history.browsing import conversation

    reply = conversation.conversation(
        history,
        _number(params, "number", 0),
        at_message=_number(params, "at_message", 0),
        offset=_number(params, "offset", 0),
        limit=_number(params, "limit", 100),
    )
    return dict(reply)


OPERATIONS: dict[str, Operation] = {
    "search": _search,
    "show": _show,
    "stats": _stats,
    "forget": _forget,
    "fix": _fix,
    "how": _how,
    "blame": _blame,
    "friction": _friction,
    "timeline": _timeline,
    "observations": _observations,
    "record": _record,
    "remember": _remember,
    "supersede": _supersede,
    "pin": _pin,
    "browse": _browse,
    "overview": _overview,
    "conversation": _conversation,
}


def _text(params: Mapping[str, Any], name: str) -> str:
    value = params.get(name)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > TEXT_MAX:
        raise InvalidRequest(f"{name} has to be a text of at most {TEXT_MAX:,} characters")
    return value


def _names(params: Mapping[str, Any], name: str) -> tuple[str, ...]:
    values = params.get(name) or []
    is_list = isinstance(values, list) and all(isinstance(value, str) for value in values)
    if not is_list or len(values) > NAMES_MAX or any(len(value) > TEXT_MAX for value in values):
        raise InvalidRequest(f"{name} has to be a list of at most {NAMES_MAX:,} texts")
    return tuple(values)


def _number(params: Mapping[str, Any], name: str, default: int) -> int:
    value = params.get(name, default)
    if type(value) is not int:
        raise InvalidRequest(f"{name} has to be a whole number, not {value!r:.40}")
    return value
