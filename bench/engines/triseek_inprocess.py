"""triseek's API in one warm process, as a server would run it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.engines.base import Engine, size_of
from bench.engines.triseek_process import command_line, environment
from bench.model import Build, Faulty, Reply

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench.model import Case, Corpus


class TriseekInprocess(Engine):
    """Clock readings are taken inside the worker, around the API's call."""

    repeat_max = 3

    def __init__(self, name: str, settings: Mapping[str, Any], scratch: Path) -> None:
        super().__init__(name, settings, scratch)
        self._worker: subprocess.Popen[bytes] | None = None

    def missing(self) -> str:
        """Why it cannot run here; empty when it can."""
        try:
            self._call("hello")
        except Faulty as error:
            return str(error)
        return ""

    def version(self) -> str:
        """The package's own."""
        return f"triseek {self._call('hello')['version']}"

    def prepare(self, corpus: Corpus) -> Build:
        """Compile and load the kernels over a tiny tree, then build from nothing."""
        super().prepare(corpus)
        shutil.rmtree(self.scratch / "indexes", ignore_errors=True)
        self.close()
        self._warm()
        self._open(self.root)
        return self._built("build")

    def _open(self, root: Path) -> None:
        self._call("open", root=str(root), sweep=bool(self.settings.get("sweep", True)))

    def update(self) -> Build:
        """What the command `update` does, without the command."""
        return self._built("update")

    def ask(self, case: Case, *, repeat: int = 1, keep: bool = False) -> Reply:
        """Ask `repeat` times in a row."""
        asked = asdict(case)
        seconds = tuple(ns / 1e9 for ns in self._call("ask", case=asked, repeat=repeat)["ns"])
        if not keep:
            return Reply(seconds)
        place = self.scratch / "answer"
        self._call("print", case=asked, path=str(place))
        output = place.read_bytes()
        place.unlink()
        return Reply(seconds, output)

    def open_seconds(self, asked: str = "") -> float:
        """Open the root's index once more in the warm worker, and look for a literal if told to."""
        return float(self._call("opening", asked=asked)["ns"][0]) / 1e9

    def backend(self, case: Case) -> str:
        """Which backend it takes."""
        return str(self._call("backend", case=asdict(case))["backend"])

    def resident_bytes(self) -> int:
        """What the worker holds now."""
        assert self._worker is not None
        status = Path(f"/proc/{self._worker.pid}/statm").read_text(encoding="ascii")
        return int(status.split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.communicate()
            self._worker = None

    def _warm(self) -> None:
        tiny = self.scratch / "tiny"
        tiny.mkdir(parents=True, exist_ok=True)
        (tiny / "one.txt").write_text("one line to compile the kernels with\n", encoding="ascii")
        subprocess.run(
            command_line("warmup"),
            env=self._environment(),
            capture_output=True,
            check=False,
        )
        self._open(tiny)
        self._call("build")

    def _built(self, verb: str) -> Build:
        reply = self._call(verb)
        return Build(
            seconds=reply["ns"][0] / 1e9,
            peak_rss_bytes=reply["peak_rss_bytes"],
            index_bytes=size_of(self.scratch / "indexes"),
            note="the call alone, in a process that has its kernels loaded",
        )

    def _call(self, op: str, **words: object) -> dict[str, Any]:
        worker = self._worker = self._worker or self._start()
        assert worker.stdin is not None
        assert worker.stdout is not None
        try:
            worker.stdin.write(json.dumps({"op": op, **words}).encode() + b"\n")
            worker.stdin.flush()
            line = worker.stdout.readline()
        except BrokenPipeError:
            line = b""
        if not line:
            raise Faulty(f"triseek's worker died: {self._last_words(worker)}")
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            raise Faulty(f"triseek, {op}: {reply['error']}")
        return reply

    def _start(self) -> subprocess.Popen[bytes]:
        self.scratch.mkdir(parents=True, exist_ok=True)
        with open(self.scratch / "errors", "wb") as errors:
            return subprocess.Popen(
                [sys.executable, "-m", "bench.engines.triseek_worker"],
                env=self._environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )

    def _environment(self) -> dict[str, str]:
        return dict(os.environ) | environment(self.scratch)

    def _last_words(self, worker: subprocess.Popen[bytes]) -> str:
        worker.communicate()
        self._worker = None
        said = (self.scratch / "errors").read_text(encoding="utf-8", errors="replace")
        return (said.strip().splitlines() or ["without a word"])[-1]
