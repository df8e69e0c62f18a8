"""The process that parses texts, a text at a time.

    python -m triseek.engine.symbols.parse_process

reads requests from its input: a line of JSON (`grammar`, its number in `GRAMMARS`; `size`, the
bytes of text that follow; `seconds`; `name`, if its uses are wanted), then the text. It answers
each with a line of JSON. It ends at the end of its input, and when nobody has asked for `IDLE_S`.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import sys
from typing import Any

IDLE_S = 60.0
"""Seconds without a request after which the process ends."""
MEMORY_BYTES = 2 << 30
"""Address space of the process: more than any text within the limits needs."""


def main() -> None:
    """Answer requests until the input ends or nobody asks."""
    _limit_memory()
    source, target = sys.stdin.buffer, os.dup(1)
    os.dup2(2, 1)  # what native code prints does not reach the answers
    while select.select([source], [], [], IDLE_S)[0]:
        line = source.readline()
        if not line:
            return
        request = json.loads(line)
        answer = json.dumps(_answer(request, source.read(request["size"]))).encode() + b"\n"
        while answer:
            answer = answer[os.write(target, answer) :]


def _limit_memory() -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _answer(request: dict[str, Any], text: bytes) -> dict[str, Any]:
    from triseek.engine.symbols import parsing
    from triseek.engine.symbols.grammars import GRAMMARS

    grammar, seconds = GRAMMARS[request["grammar"]], request["seconds"]
    try:
        if "name" in request:
            name = request["name"].encode("utf-8", "surrogateescape")
            offsets, symbols, complete = parsing.uses(text, grammar, name, seconds)
            return {"uses": offsets, "symbols": symbols, "complete": complete}
        symbols, complete = parsing.symbols(text, grammar, seconds)
    except parsing.ParsingStopped:
        return {"error": "slow"}
    except MemoryError:
        return {"error": "memory"}
    return {"symbols": symbols, "complete": complete}


if __name__ == "__main__":
    main()
