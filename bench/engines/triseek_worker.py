"""A warm process that answers through triseek's API: one JSON request a line, one reply a line.

    python -m bench.engines.triseek_worker

Being a process of its own, its peak memory is triseek's and not the measurement's.
"""

from __future__ import annotations

import json
import resource
import sys
from typing import Any

from bench.engines.triseek_api import Api


def main() -> None:
    """Serve until standard input ends."""
    worker = _Worker()
    for line in sys.stdin:
        request = json.loads(line)
        try:
            reply = getattr(worker, f"do_{request.pop('op')}")(**request)
        except Exception as error:  # noqa: BLE001 - whatever it was, the harness must hear of it
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), flush=True)


class _Worker:
    def __init__(self) -> None:
        self.api: Api | None = None

    def do_hello(self) -> dict[str, Any]:
        import triseek

        return {"version": triseek.__version__}

    def do_open(self, root: str, sweep: bool) -> dict[str, Any]:
        self.api = Api(root, sweep=sweep)
        return {}

    def do_opening(self, asked: str) -> dict[str, Any]:
        return {"ns": [self._open().opening(asked)]}

    def do_build(self) -> dict[str, Any]:
        return {"ns": [self._open().build()], "peak_rss_bytes": _peak()}

    def do_update(self) -> dict[str, Any]:
        return {"ns": [self._open().update()], "peak_rss_bytes": _peak()}

    def do_ask(self, case: dict[str, Any], repeat: int) -> dict[str, Any]:
        return {"ns": [self._open().ask(case) for _ in range(repeat)]}

    def do_print(self, case: dict[str, Any], path: str) -> dict[str, Any]:
        with open(path, "wb") as out:
            self._open().print(case, out)
        return {}

    def do_backend(self, case: dict[str, Any]) -> dict[str, Any]:
        return {"backend": self._open().backend(case)}

    def _open(self) -> Api:
        assert self.api is not None, "nothing is open"
        return self.api


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main()
