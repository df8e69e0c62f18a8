"""The operations of the history by name, with their parameters checked.

The daemon offers each as the verb `history_NAME`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

from triseek.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from triseek.history.operations import By
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

    names = params.get("sessions") or []
    is_list = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if not is_list or len(names) > NAMES_MAX:
        raise InvalidRequest(f"sessions has to be a list of at most {NAMES_MAX:,} ids")
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


OPERATIONS: dict[str, Operation] = {
    "search": _search,
    "show": _show,
    "stats": _stats,
    "forget": _forget,
    "fix": _fix,
    "how": _how,
    "blame": _blame,
    "friction": _friction,
}


def _text(params: Mapping[str, Any], name: str) -> str:
    value = params.get(name)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > TEXT_MAX:
        raise InvalidRequest(f"{name} has to be a text of at most {TEXT_MAX:,} characters")
    return value


def _number(params: Mapping[str, Any], name: str, default: int) -> int:
    value = params.get(name, default)
    if type(value) is not int:
        raise InvalidRequest(f"{name} has to be a whole number, not {value!r:.40}")
    return value
