"""Clients, an editor and writers of the index at work on one tree at once, each a process."""

from __future__ import annotations

import contextlib
import json
import statistics
import subprocess
from typing import NamedTuple

from tests import rg
from tests.e2e.editing import Ledger
from tests.e2e.generated import EVERYWHERE, GeneratedTree
from tests.e2e.load_client import Settings

STABLE = (
    ["-n", "token_of_file_0007"],
    ["-l", "token_of_file_00[0-3]"],
    ["-c", "-F", EVERYWHERE, "dir03"],
    ["-n", "-C1", "token_of_file_0100"],
    ["-n", "-o", r"token_of_file_\d*5\b", "-g", "dir1*/**"],
    ["-n", "word001 word002"],
    ["-l", "-F", EVERYWHERE, "dir05", "dir11"],
    ["-c", "word1[0-9]{2} word2[0-9]{2} word30", "dir00"],
    ["-i", "-n", "TOKEN_OF_FILE_0042"],
    ["--files", "dir07"],
    ["-n", "no such thing anywhere"],
    ["-l", "-v", "no such thing", "dir09"],
)  # fmt: skip
"""Questions whose answers the editor's deeds do not touch."""


class Load:
    """A tree, an editor at work in it, and processes that write its index.

    Args:
        living: the daemon's state folder; the tree is indexed in it.
        folder: for the tree and what stands beside it.
    """

    def __init__(self, living, folder, files, pause):
        self.living, self.root, self._pause = living, folder / "tree", pause
        self.root.mkdir(parents=True)
        GeneratedTree(self.root, files)
        self.ledger, self.stable = folder / "ledger", folder / "stable.json"
        self._stop_editing, self._stop_asking = folder / "stop", folder / "stop-asking"
        Ledger(self.ledger, create=True)
        self.stable.write_text(json.dumps([self._answered(words) for words in STABLE]))
        assert living.run("build", cwd=self.root).status == 0

    def _answered(self, words):
        """What rg says."""
        done = subprocess.run(
            [rg.program(), "--no-config", "--sort", "path", *words], cwd=self.root,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert not done.stderr
        return words, done.returncode, done.stdout

    @contextlib.contextmanager
    def editing(self):
        """An editor and a writer at work; afterwards `deeds` and `written` say what they did."""
        beside = self.living.aside
        editor = beside(
            "tests.e2e.editing", self.root, self.ledger, self._stop_editing, "7", str(self._pause)
        )
        writer = beside("tests.e2e.load_writer", self.root, self._stop_editing)
        with editor as editing, writer as writing:
            yield
            self._stop_editing.touch()
            self.deeds, self.written = editing.said()["deeds"], writing.said()

    @contextlib.contextmanager
    def clients(self, processes, *, threads, requests, by_process, falls_back=False):
        """Clients that ask; the value waits for them and returns what they report."""
        settings = [
            Settings(
                str(self.root), str(self.ledger), str(self.stable), str(self._stop_asking),
                threads, requests, by_process, falls_back, f"client-{k}",
            )
            for k in range(processes)
        ]  # fmt: skip
        with contextlib.ExitStack() as running:
            asking = [
                running.enter_context(
                    self.living.aside("tests.e2e.load_client", json.dumps(each._asdict()))
                )
                for each in settings
            ]
            yield lambda: Told.of([process.said(3_000) for process in asking])

    def stop_asking(self):
        self._stop_asking.touch()


class Told(NamedTuple):
    """All clients' reports as one."""

    seconds: list[float]
    process_seconds: list[float]
    wrong: list
    errors: list[str]
    checked_edits: int
    moved: int
    fell_back: int

    @classmethod
    def of(cls, reports):
        joined = [sum((report[name] for report in reports[1:]), reports[0][name])
                  for name in cls._fields]  # fmt: skip
        return cls(*joined)

    @property
    def asked(self):
        return len(self.seconds) + len(self.process_seconds) + self.fell_back

    def __str__(self):
        return (
            f"{self.asked} requests, of which {len(self.process_seconds)} by processes and "
            f"{self.fell_back} fell back; {self.checked_edits} about edits checked, {self.moved} "
            f"overtaken by the next edit; {len(self.wrong)} wrong, {len(self.errors)} errors; "
            f"by frames {_quantiles(self.seconds)}, processes {_quantiles(self.process_seconds)}"
        )


def _quantiles(seconds):
    if len(seconds) < 2:
        return "-"
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    return f"p50 {cuts[49] * 1e3:.1f} p99 {cuts[98] * 1e3:.1f} max {max(seconds) * 1e3:.0f} ms"
