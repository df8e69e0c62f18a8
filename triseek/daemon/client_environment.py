"""Decode requests, and check whether their client sees files and rules as the daemon does.

A request is untrusted input: each of its parameters may be missing or of any type.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

from triseek.files.tree.ignore import global_excludes_path
from triseek.ipc import surroundings

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

WORDS_MAX = 100_000


class MalformedRequest(Exception):
    """The request is one that no triseek client sends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientEnvironment:
    """A client's place as `ipc.surroundings.place` describes it, with its types checked.

    Requests that need more have subclasses, whose fields are decoded by their types, too.
    """

    cwd: str
    cwd_id: list[int]
    root_id: list[int]
    space: str
    user: list[int]
    environ: dict[str, str]


Parameters = TypeVar("Parameters", bound=ClientEnvironment)


def read(record: type[Parameters], params: Mapping[str, object]) -> Parameters:
    """Return a request's parameters as a record, whose fields have their names.

    Raises:
        MalformedRequest: One is missing or has a wrong type.
    """
    try:
        values: Mapping[str, Any] = {
            field.name: _decoded(str(field.type), params.get(field.name))
            for field in fields(record)
        }
    except UnicodeEncodeError:
        raise MalformedRequest from None
    if not os.path.isabs(values["cwd"]):  # noqa: PTH117
        raise MalformedRequest
    return record(**values)


def is_shared(place: ClientEnvironment) -> bool:
    """Return whether client and daemon see the same files with the same permissions."""
    try:
        cwd_status, root_status = os.stat(place.cwd), os.stat("/")  # noqa: PTH116
    except (OSError, ValueError):
        return False
    return (
        place.cwd_id == [cwd_status.st_dev, cwd_status.st_ino]
        and place.root_id == [root_status.st_dev, root_status.st_ino]
        and place.space == surroundings.space()
        and place.user == surroundings.user()
    )


def environ_with(variables: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    """Return this process's environment, with the variables of some names as a client has them."""
    ours = {name: value for name, value in os.environ.items() if name not in names}
    return ours | {name: variables[name] for name in names if name in variables}


def of_workflows(variables: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment, with a client's settings of workflows and clusters."""
    return environ_with(variables, surroundings.of_workflows({*os.environ, *variables}))


def has_our_rules(place: ClientEnvironment) -> bool:
    """Return whether the client's environment gives the same git and rg rules as this process's."""
    excludes = global_excludes_path()
    if excludes is not None and not excludes.startswith(b"/"):
        return False  # relative to the client's working folder
    return surroundings.chosen(surroundings.RULES, place.environ) == _our_rules()


def _our_rules() -> dict[str, str]:
    """Return the same of this process without decoding its whole environment per request."""
    others = [name for name in os.environb if name.startswith(b"GIT_CONFIG")]
    names = [*surroundings.RULES, *map(os.fsdecode, others)]
    return {name: os.environ[name] for name in names if name in os.environ}


def _decoded(kind: str, value: object) -> object:
    """Return a JSON value as the type that is written `kind`.

    Texts have to be such as the system accepts: encodable and, unless bytes, without NUL.

    Raises:
        MalformedRequest: It has another type.
        UnicodeEncodeError: It holds half of a surrogate pair.
    """
    kind, separator, _ = kind.partition(" | None")
    if separator and value is None:
        return None
    match kind, value:
        case ("bool", bool()) | ("dict[str, Any]", dict()):
            return value
        case "int", int() if not isinstance(value, bool):
            return value
        case "str", str() if b"\0" not in os.fsencode(value):
            return value
        case "bytes", str():
            return os.fsencode(value)
        case (("list[str]" | "list[int]"), list()) if len(value) <= WORDS_MAX:
            return [_decoded(kind[5:-1], item) for item in value]
        case "dict[str, str]", dict():
            return {_decoded("str", name): _decoded("str", item) for name, item in value.items()}
    raise MalformedRequest
