"""ripgrepx: a daemon with the index in memory, and a thin command in front of it."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench import command
from bench.engines.base import ProcessEngine, either, first_line, size_of
from bench.model import Build, Faulty

if TYPE_CHECKING:
    from bench.model import Case, Corpus

_READY_SECONDS_MAX = 600.0


class Rgx(ProcessEngine):
    """`rgx`, its home and its cache in scratch."""

    def version(self) -> str:
        """As `rgx --version` says."""
        return first_line(self.program, "--version")

    def refuses(self, case: Case) -> str:
        """Version 0.4 takes few of ripgrep's flags."""
        if case.mode != "lines" or case.globs or len(case.patterns) > 1:
            return "has no flag for it (-c, -g, --files, a second pattern)"
        if case.limit:
            return "no order to take the first lines of"
        return super().refuses(case)

    def environment(self) -> dict[str, str]:
        """Nothing of the user's is read or written."""
        return {"HOME": str(self.scratch), "RGX_CACHE_DIR": str(self.scratch / "cache")}

    def prepare(self, corpus: Corpus) -> Build:
        """Start the daemon on an empty cache and wait until it says it is ready."""
        self.close()
        super().prepare(corpus)
        for stale in (self.scratch / "cache").rglob("index.bin"):
            stale.unlink()
        self.scratch.mkdir(parents=True, exist_ok=True)
        begun = time.perf_counter()
        self._server("start")
        status = self._await_ready(begun)
        seconds = time.perf_counter() - begun
        size = size_of(self.scratch / "cache")
        return Build(
            seconds=seconds,
            peak_rss_bytes=self._memory("VmHWM"),
            index_bytes=size or _index_size(status),
            note="by its daemon, until it says ready" + ("" if size else "; kept in memory only"),
        )

    def argv(self, case: Case) -> list[str]:
        """It knows neither `-e` nor `--no-heading`."""
        chosen = ["-n"]
        chosen += ["-F"] if case.fixed else []
        chosen += ["-i"] if case.ignore_case else []
        chosen += ["-w"] if case.word else []
        return [self.program, *chosen, "--", either(case), "."]

    def resident_bytes(self) -> int:
        """What its daemon holds now."""
        return self._memory("VmRSS")

    def close(self) -> None:
        """Stop the daemon of this corpus."""
        if self.root != Path():
            self._server("stop")
        self.root = Path()

    def _server(self, verb: str) -> str:
        argv = [self.program, "--server", verb]
        ended = command.run(argv, cwd=self.root, env=self.environment(), keep=True)
        return ended.output.decode(errors="replace")

    def _await_ready(self, begun: float) -> str:
        while time.perf_counter() - begun < _READY_SECONDS_MAX:
            status = self._server("status")
            if re.search(r"state\s+ready", status):
                return status
            time.sleep(0.1)
        raise Faulty(f"rgx was not ready after {_READY_SECONDS_MAX:.0f} s")

    def _memory(self, field: str) -> int:
        """Of our daemon: the process that has our cache folder in its environment."""
        most = 0
        wanted = f"RGX_CACHE_DIR={self.scratch / 'cache'}".encode()
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if wanted not in (process / "environ").read_bytes().split(b"\0"):
                    continue
                status = (process / "status").read_text(encoding="utf-8")
            except OSError:
                continue
            found = re.search(rf"^{field}:\s+(\d+) kB", status, re.MULTILINE)
            most = max(most, int(found.group(1)) * 1024 if found else 0)
        return most


def _index_size(status: str) -> int:
    found = re.search(r"index\s+([\d.]+) (B|KB|MB|GB)", status)
    units = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}
    return int(float(found.group(1)) * units[found.group(2)]) if found else 0
