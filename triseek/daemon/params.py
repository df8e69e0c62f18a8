"""The daemon's JSON verbs: each is a request, whose untrusted parameters are read, and a handler.

A request is a dataclass. Each field is `Annotated[type, reader]`: the reader gets all parameters
and the name of the field, and returns its value or raises `InvalidRequest`.
"""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_type_hints

from triseek.engine.roots import project
from triseek.errors import InvalidRequest
from triseek.memo.resolve_context import Asked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

NAME_MAX = 500
"""Maximum characters of a name: of a session, an agent, a model."""
Request = TypeVar("Request")
Owner = TypeVar("Owner")


@dataclass(frozen=True, slots=True)
class Verb(Generic[Owner, Request]):
    """One JSON verb."""

    request: type[Request]
    """A dataclass as this module describes."""
    handler: Callable[[Owner, Request], object]
    """Returns the reply, which JSON can hold; its owner keeps what the verb is about."""

    def __call__(self, owner: Owner, params: Mapping[str, object]) -> Any:  # noqa: ANN401 - JSON
        """Answer the parameters of a client."""
        return self.handler(owner, read(self.request, params))


def bound(verbs: Mapping[str, Verb[Owner, Any]], owner: Owner) -> Mapping[str, Callable[..., Any]]:
    """Return functions that take the parameters of these verbs and answer them."""
    return {name: functools.partial(verb, owner) for name, verb in verbs.items()}


def read(kind: type[Request], params: Mapping[str, object]) -> Request:
    """Read a request of this kind from untrusted parameters; unknown ones are ignored.

    Raises:
        InvalidRequest: A parameter is missing or not valid.
    """
    readers = _readers(kind)  # type: ignore[arg-type]  # classes are hashable
    return kind(**{name: reader(params, name) for name, reader in readers.items()})


@functools.cache
def _readers(kind: type[object]) -> Mapping[str, Callable[[Mapping[str, object], str], object]]:
    hints = get_type_hints(kind, include_extras=True)
    return {name: hint.__metadata__[0] for name, hint in hints.items()}


def text(params: Mapping[str, object], name: str, *, most: int = NAME_MAX) -> str:
    """Return the text parameter `name`; "" if it is missing or null.

    Raises:
        InvalidRequest: It is not a string, or has more than `most` characters.
    """
    value = params.get(name)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > most:
        raise InvalidRequest(f"{name} has to be a text of at most {most:,} characters")
    return value


def is_true(params: Mapping[str, object], name: str) -> bool:
    """Return whether the parameter `name` is true; any other value is not."""
    return params.get(name) is True


def target_root(params: Mapping[str, object], name: str = "target_root") -> str:
    """Return the folder that a request is about, an absolute path.

    Raises:
        InvalidRequest: It is missing or is not an absolute path.
    """
    folder = params.get(name)
    if not isinstance(folder, str) or not os.path.isabs(folder) or "\0" in folder:  # noqa: PTH117
        raise InvalidRequest(f"{name} has to be an absolute path, not {folder!r:.200}")
    return folder


def optional_root(params: Mapping[str, object], name: str) -> str:
    """Return the folder that a request is about; "" if it is missing. Raises as `target_root`."""
    return "" if params.get(name) is None else target_root(params, name)


def repository(params: Mapping[str, object], name: str = "target_root") -> str:
    """Return the repository that contains `target_root`. Raises as `target_root` does."""
    return project(target_root(params, name))


def asker(params: Mapping[str, object], _name: str) -> Asked:
    """Return who is calling, as far as the request says: `session`, `agent`, `harness`, `call`.

    Raises:
        InvalidRequest: One of them is not a text, or is too long.
    """
    return Asked.read(params)
