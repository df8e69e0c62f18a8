"""The functions of the host: how a script sees them, and how a call of a script is run."""

from __future__ import annotations

import inspect
import json
import time
from typing import TYPE_CHECKING, Any

from triseek.errors import TriseekError

if TYPE_CHECKING:
    from triseek.workflows.execution import Functions

_MAX_DEPTH = 32
_MAX_REPLY_BYTES = 16 << 20
_MAX_RECORDED_CALLS = 1000
_MAX_RECORD_CHARS = 200


class CallRejected(Exception):
    """A call that is not run, or a result that is not passed; the message is for the script."""


def describe(functions: Functions) -> list[dict[str, Any]]:
    """Describe functions for the box: names, parameters in order, which are required, docs."""
    described = []
    for name, function in functions.items():
        parameters = _parameters(name, function)
        described.append(
            {
                "name": name,
                "doc": inspect.getdoc(function) or "",
                "parameters": [parameter.name for parameter in parameters],
                "required": [
                    parameter.name
                    for parameter in parameters
                    if parameter.default is inspect.Parameter.empty
                ],
            }
        )
    return described


def _parameters(name: str, function: Any) -> list[inspect.Parameter]:  # noqa: ANN401
    parameters = list(inspect.signature(function).parameters.values())
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    if any(parameter.kind not in named for parameter in parameters):
        raise TypeError(f"host function {name} must have named parameters only")
    return parameters


class Caller:
    """Runs calls of one script, and records them."""

    def __init__(self, functions: Functions) -> None:
        self._functions = functions
        self._parameters = {
            name: [parameter.name for parameter in _parameters(name, function)]
            for name, function in functions.items()
        }
        self.records: list[str] = []

    def call(self, name: object, arguments: object) -> Any:  # noqa: ANN401
        """Run a function of the host and return its result.

        Raises:
            CallRejected: there is no such function, the arguments do not fit, or it has failed.
        """
        if not isinstance(name, str) or name not in self._functions:
            raise CallRejected(f"there is no host function {str(name)[:80]!r}")
        if not isinstance(arguments, dict) or depth(arguments, _MAX_DEPTH) > _MAX_DEPTH:
            raise CallRejected(f"{name}: arguments must be an object, nested {_MAX_DEPTH} at most")
        if unknown := arguments.keys() - set(self._parameters[name]):
            raise CallRejected(f"{name}: no argument {min(map(str, unknown))[:80]!r}")
        begin = time.monotonic()
        try:
            return self._functions[name](**arguments)
        except TriseekError as error:
            raise CallRejected(error.message) from error
        except Exception as error:
            raise CallRejected(f"{name} failed: {type(error).__name__}: {error}") from error
        finally:
            self._record(name, arguments, time.monotonic() - begin)

    def bind(
        self, name: str, positional: tuple[object, ...], keywords: dict[str, object]
    ) -> dict[str, object]:
        """Return all arguments of a call by name.

        Raises:
            CallRejected: there are too many, or two of one name.
        """
        parameters = self._parameters[name]
        if len(positional) > len(parameters):
            raise CallRejected(f"{name} takes {len(parameters)} arguments, not {len(positional)}")
        arguments = dict(zip(parameters, positional, strict=False))
        if twice := arguments.keys() & keywords.keys():
            raise CallRejected(f"{name} got two values for argument {min(twice)!r}")
        return arguments | keywords

    def reply(self, number: object, name: object, arguments: object) -> bytes:
        """Run a call and return the reply's JSON, whatever happens."""
        try:
            result = self.call(name, arguments)
            body = json.dumps({"id": number, "result": result}, allow_nan=False).encode()
        except CallRejected as error:
            return _failure(number, str(error))
        except (TypeError, ValueError, RecursionError) as error:
            return _failure(number, f"{name}: the result is no JSON: {error}")
        if len(body) > _MAX_REPLY_BYTES:
            return _failure(number, f"{name}: the result is longer than {_MAX_REPLY_BYTES} bytes")
        return body

    def _record(self, name: str, arguments: dict[str, Any], seconds: float) -> None:
        if len(self.records) < _MAX_RECORDED_CALLS:
            words = ", ".join(f"{word}={value!r}" for word, value in arguments.items())
            words = words if len(words) <= _MAX_RECORD_CHARS else f"{words[:_MAX_RECORD_CHARS]}…"
            self.records.append(f"{name}({words}) {seconds * 1000:.0f} ms")


def _failure(number: object, message: str) -> bytes:
    return json.dumps({"id": number, "error": message}).encode()


def depth(value: object, most: int) -> int:
    """How deeply lists and objects are nested: 0 for a scalar. Stops above `most`."""
    level, layer = 0, [value]
    while level <= most:
        layer = [
            inner
            for outer in layer
            if isinstance(outer, list | dict)
            for inner in ([None, *outer] if isinstance(outer, list) else [None, *outer.values()])
        ]
        if not layer:
            return level
        level += 1
    return level
