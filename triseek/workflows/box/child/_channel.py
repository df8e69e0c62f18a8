"""The script's side of the channel: the module `runtime.zoekt_tools`, made from descriptions."""

from __future__ import annotations

import sys
import threading
import types

from triseek.workflows.box.child import frames

TYPE_CHECKING = False  # importing typing takes longer than all of this
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class ZoektRuntimeError(RuntimeError):
    """A function of the host has failed."""


class Channel:
    """Calls of several threads over one descriptor.

    The thread that waits for a reply reads for all others too: no thread is started for it.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._turn = threading.Condition()
        self._replies: dict[int, dict[str, Any]] = {}
        self._reading = False
        self._number = 0

    def call(self, name: str, arguments: dict[str, Any]) -> Any:  # noqa: ANN401
        """Call a function of the host and return its result.

        Raises:
            ZoektRuntimeError: the function has failed, or the host takes no more calls.
        """
        try:
            with self._turn:
                self._number += 1
                number = self._number
                frames.send(self._descriptor, {"id": number, "name": name, "arguments": arguments})
            reply = self._wait(number)
        except (EOFError, OSError) as error:
            raise ZoektRuntimeError(f"{name}: triseek does not answer: {error}") from None
        except (TypeError, ValueError) as error:
            raise ZoektRuntimeError(f"{name}: {error}") from None
        if "error" in reply:
            raise ZoektRuntimeError(reply["error"])
        return reply["result"]

    def _wait(self, number: int) -> dict[str, Any]:
        with self._turn:
            while number not in self._replies:
                if self._reading:
                    self._turn.wait()
                    continue
                self._reading = True
                self._turn.release()
                try:
                    reply = frames.receive(self._descriptor)
                finally:
                    self._turn.acquire()
                    self._reading = False
                    self._turn.notify_all()
                self._replies[reply["id"]] = reply
            return self._replies.pop(number)


def install(descriptor: int, descriptions: list[dict[str, Any]]) -> None:
    """Make `runtime.zoekt_tools` importable, with a function for each description."""
    channel = Channel(descriptor)
    tools = types.ModuleType("runtime.zoekt_tools", "Functions that triseek runs for the script.")
    for description in descriptions:
        setattr(tools, description["name"], _function(channel, description))
    tools.ZoektRuntimeError = ZoektRuntimeError  # type: ignore[attr-defined]
    names = [description["name"] for description in descriptions]
    tools.__all__ = [*names, "ZoektRuntimeError"]  # type: ignore[attr-defined]
    package = types.ModuleType("runtime")
    package.__path__ = []
    package.zoekt_tools = tools  # type: ignore[attr-defined]
    sys.modules["runtime"], sys.modules["runtime.zoekt_tools"] = package, tools


def _function(channel: Channel, description: dict[str, Any]) -> Callable[..., Any]:
    name, parameters = description["name"], description["parameters"]
    required = description["required"]

    def call(*positional: object, **keywords: object) -> object:
        if len(positional) > len(parameters):
            raise TypeError(f"{name}() takes {len(parameters)} arguments, not {len(positional)}")
        arguments = dict(zip(parameters, positional, strict=False))
        for word, value in keywords.items():
            if word not in parameters:
                known = ", ".join(parameters)
                raise TypeError(f"{name}() has no argument '{word}'; it has: {known}")
            if word in arguments:
                raise TypeError(f"{name}() got two values for argument '{word}'")
            arguments[word] = value
        if missing := [word for word in required if word not in arguments]:
            raise TypeError(f"{name}() misses: {', '.join(missing)}")
        return channel.call(name, arguments)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = description["doc"]
    return call
