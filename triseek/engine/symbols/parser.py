"""The parsers as seen by the process that asks: a few processes that parse, with limits."""

from __future__ import annotations

import json
import sys
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

from triseek.engine.symbols.child import Child, ChildFailed, ChildSlow
from triseek.engine.symbols.grammars import GRAMMARS
from triseek.model.symbol import Symbol

if TYPE_CHECKING:
    from triseek.engine.symbols.grammars import Grammar

PROCESSES_MAX = 2
"""Processes that parse at the same time."""
GRACE_S = 0.3
"""Seconds after its time limit in which a process may say that it stopped, before it is killed."""
_WORDS = (sys.executable, "-P", "-m", "triseek.engine.symbols.parse_process")


class Parsed(NamedTuple):
    """What a parser reports of a text."""

    symbols: tuple[Symbol, ...] = ()
    uses: tuple[int, ...] = ()
    """Offsets of the uses of a name, if they were wanted."""
    problem: str = ""
    """Why something may be missing; "" if nothing is."""
    is_hopeless: bool = False
    """Whether the problem is the text's own: parsing it again takes as long and fails again."""


class Parser:
    """Processes that parse texts with tree-sitter; thread-safe."""

    def __init__(self) -> None:
        self._children = [
            Child(_WORDS, lambda answer: answer.endswith(b"\n")) for _ in range(PROCESSES_MAX)
        ]
        self._free = threading.Semaphore(PROCESSES_MAX)
        self._lock = threading.Lock()
        self._idle = list(self._children)

    def parse(
        self, text: bytes, grammar: Grammar, seconds: float, name: bytes | None = None
    ) -> Parsed:
        """Return the symbols of a text, and the uses of a name if it is passed.

        Never raises because of the text: what goes wrong is the `problem` of the result.
        """
        request: dict[str, Any] = {
            "grammar": GRAMMARS.index(grammar),
            "size": len(text),
            "seconds": seconds,
        }
        if name is not None:
            request["name"] = name.decode("utf-8", "surrogateescape")
        message = json.dumps(request).encode() + b"\n" + text
        if not self._free.acquire(timeout=max(0.0, seconds)):
            return Parsed(problem="other files took all the time")
        with self._lock:
            child = self._idle.pop()
        try:
            answer = json.loads(child.ask(message, seconds + GRACE_S))
        except ChildSlow:
            return Parsed(problem=f"it was not parsed within {seconds:.1f} s", is_hopeless=True)
        except (ChildFailed, ValueError) as error:
            return Parsed(problem=f"the parser failed ({error})", is_hopeless=True)
        finally:
            with self._lock:
                self._idle.append(child)
            self._free.release()
        return _decoded(answer, seconds)

    def close(self) -> None:
        """End the processes. A later request starts them again."""
        for child in self._children:
            child.close()


def _decoded(answer: dict[str, Any], seconds: float) -> Parsed:
    if answer.get("error") == "memory":
        return Parsed(problem="it takes too much memory to parse", is_hopeless=True)
    if "error" in answer:
        return Parsed(problem=f"it was not parsed within {seconds:.1f} s", is_hopeless=True)
    return Parsed(
        tuple(Symbol(*fields) for fields in answer["symbols"]),
        tuple(answer.get("uses", ())),
        "" if answer["complete"] else "it has more symbols than are kept",
    )
