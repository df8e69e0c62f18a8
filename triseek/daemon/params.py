"""Parameters that several of the daemon's JSON verbs have, checked: they come from outside."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from triseek.errors import InvalidRequest
from triseek.service.roots import project
from triseek.sessions.memo.choosing import Asked

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME_MAX = 500
"""Characters of a name: a session's, an agent's, a model's."""


def text(params: Mapping[str, Any], name: str, *, most: int = NAME_MAX) -> str:
    """The text parameter `name`; "" if it is missing or null.

    Raises:
        InvalidRequest: It is not a string, or has more than `most` characters.
    """
    value = params.get(name)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > most:
        raise InvalidRequest(f"{name} has to be a text of at most {most:,} characters")
    return value


def target_root(params: Mapping[str, Any]) -> str:
    """The folder that a request is about: `target_root`, an absolute path.

    Raises:
        InvalidRequest: It is missing or is not an absolute path.
    """
    folder = params.get("target_root")
    if not isinstance(folder, str) or not os.path.isabs(folder) or "\0" in folder:  # noqa: PTH117
        raise InvalidRequest(f"target_root has to be an absolute path, not {folder!r:.200}")
    return folder


def repository(params: Mapping[str, Any]) -> str:
    """The repository that contains `target_root`. Raises as `target_root`."""
    return project(target_root(params))


def asker(params: Mapping[str, Any]) -> Asked:
    """Who asks, as far as the request says: `session`, `agent`, `harness`, `call`.

    Raises:
        InvalidRequest: One of them is not a text, or is too long.
    """
    return Asked(**{name: text(params, name) for name in Asked._fields})
