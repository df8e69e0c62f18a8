"""The language of `run_workflow_cli`: `<workflow_id> [--flag value]...`."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, TypeAlias

from triseek.workflows.catalog.workflows import BY_ID

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.workflows.catalog.capability import Argument, Capability

Value: TypeAlias = str | int | bool

PREFIX = "args validation failure: "
SHOWN_MAX = 200
"""Characters of a word that a message repeats."""
DIGITS_MAX = 12
"""Characters of an integer; Python reads longer ones slowly."""
_YES = frozenset(("true", "1", "yes", "on"))
_NO = frozenset(("false", "0", "no", "off"))


class Misunderstood(Exception):
    """A command that cannot be run; the message says why, in one line."""

    def __init__(self, message: str) -> None:
        super().__init__(PREFIX + message)


def parse(command: str) -> tuple[Capability, dict[str, Value]]:
    """Return the workflow that a command names, and its arguments with defaults filled in.

    Raises:
        Misunderstood: The command is not one of this language.
    """
    try:
        words = shlex.split(command, posix=True)
    except ValueError as error:
        raise Misunderstood(f"invalid command: {error}") from None
    return parse_words(words)


def parse_words(words: Sequence[str]) -> tuple[Capability, dict[str, Value]]:
    """Return what `parse` does, for a command that is split into words."""
    if not words:
        raise Misunderstood("command must not be empty")
    workflow = BY_ID.get(words[0])
    if workflow is None:
        available = ", ".join(sorted(BY_ID))
        raise Misunderstood(
            f"unknown workflow_id: {_shown(words[0])}. Available workflows: {available}"
        )
    return workflow, _Flags(workflow).read(words[1:])


def usage(workflow: Capability) -> str:
    """Return the usage line of a workflow: required flags first."""
    flags = [f"{_flag(name)} <value>" for name in workflow.required]
    flags += [
        f"[{_flag(name)} <value>]"
        for name, argument in workflow.arguments.items()
        if not argument.required
    ]
    return " ".join(["Usage:", workflow.id, *flags])


class _Flags:
    """Reads the flags of one workflow."""

    def __init__(self, workflow: Capability) -> None:
        self._workflow = workflow
        self._names = {
            spelling: name for name in workflow.arguments for spelling in (f"--{name}", _flag(name))
        }

    def read(self, words: Sequence[str]) -> dict[str, Value]:
        """Return the arguments that words give, and the defaults of the others."""
        values: dict[str, Value] = {}
        following = iter(words)
        for word in following:
            if not word.startswith("--"):
                raise self._error(f"unexpected positional argument `{_shown(word)}`")
            flag, is_joined, text = word.partition("=")
            name = self._names.get(flag)
            if name is None:
                raise self._error(f"unknown flag `{_shown(flag)}`")
            if name in values:
                raise self._error(f"duplicate flag `{flag}`")
            if not is_joined:
                text = next(following, "--")
                if text.startswith("--"):
                    raise self._error(f"missing value for `{flag}`")
            values[name] = self._value(name, self._workflow.arguments[name], text)
        missing = [_flag(name) for name in self._workflow.required if name not in values]
        if missing:
            raise self._error(f"missing required flags: {', '.join(missing)}")
        return self._with_defaults(values)

    def _with_defaults(self, values: dict[str, Value]) -> dict[str, Value]:
        """Return values in the order of the declaration, with the defaults of those left out."""
        complete = {}
        for name, argument in self._workflow.arguments.items():
            value = values.get(name, argument.default)
            if value is not None:
                complete[name] = value
        return complete

    def _value(self, name: str, argument: Argument, text: str) -> Value:
        if argument.type == "integer":
            return self._integer(name, argument, text)
        if argument.type == "boolean":
            word = text.strip().lower()
            if word not in _YES | _NO:
                raise self._error(f"invalid boolean for `{_flag(name)}`: {_shown(text)!r}")
            return word in _YES
        if argument.type != "string":
            raise self._error(f"unsupported arg type `{argument.type}` for `{_flag(name)}`")
        return text

    def _integer(self, name: str, argument: Argument, text: str) -> int:
        try:
            value = int(text) if len(text) <= DIGITS_MAX else None
        except ValueError:
            value = None
        if value is None:
            raise self._error(f"invalid integer for `{_flag(name)}`: {_shown(text)!r}")
        if argument.minimum is not None and value < argument.minimum:
            raise self._error(f"`{_flag(name)}` must be >= {argument.minimum}: {value}")
        if argument.maximum is not None and value > argument.maximum:
            raise self._error(f"`{_flag(name)}` must be <= {argument.maximum}: {value}")
        return value

    def _error(self, message: str) -> Misunderstood:
        return Misunderstood(f"{message}. {usage(self._workflow)}")


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _shown(text: str) -> str:
    return text if len(text) <= SHOWN_MAX else text[: SHOWN_MAX - 3] + "..."
