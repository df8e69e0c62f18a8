"""`served.py FOLDER [--http ADDRESS | --limit SECONDS]`: a server with a stand-in for index_status.

It waits until a file is there, or until it is cancelled, of which it leaves a file; a deaf one
does not look whether it is cancelled. It makes noise on every way to standard output there is.
"""

from __future__ import annotations

import ctypes
import dataclasses
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from triseek.app import registry
from triseek.ipc import ending
from triseek.mcp import backends, hosting, pipe, tool_handlers

FOLDER = Path(sys.argv[1])


@dataclasses.dataclass
class Request:
    """What the tool should do."""

    wait_for: str = ""
    deaf: bool = False
    noise: bool = False
    weight: int = 0


def answer(_context: Any, request: Request, call: Any) -> dict[str, Any]:
    if request.noise:
        make_noise()
    if request.wait_for:
        (FOLDER / f"{request.wait_for}.begun").touch()
        while not (FOLDER / request.wait_for).exists():
            if call.cancelled() and not request.deaf:
                (FOLDER / f"{request.wait_for}.cancelled").touch()
                break
            time.sleep(0.01)
    return {"version": "1", "index_present": False, "weight": "x" * request.weight}


def make_noise() -> None:
    print("printed", flush=True)
    os.write(1, b"written\n")
    subprocess.run(["echo", "a child's"], check=True)
    ctypes.CDLL(None).puts(b"the C library's")
    ctypes.CDLL(None).fflush(None)


registry.TOOLS = tuple(
    dataclasses.replace(tool, request=Request, answer=answer)
    if tool.name == "index_status"
    else tool
    for tool in registry.TOOLS
)
if "--limit" in sys.argv:
    tool_handlers.TIMED = frozenset(("index_status",))
    tool_handlers.LIMIT_S = float(sys.argv[3])
if "--http" in sys.argv:
    hosting.serve_http(str(FOLDER), "search", sys.argv[3])
else:
    pipe.serve(backends.Opener(str(FOLDER), "search"), lambda _line: None)
ending.now(0)  # as `triseek mcp serve` ends
