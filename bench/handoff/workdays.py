"""Plays recorded workdays of real agents: their hooks, told to the observer that the daemon has.

What the agents did was drawn by a script, on a package of six files; see docs/benchmarks/memo.md.
"""

from __future__ import annotations

import contextlib
import subprocess
from typing import TYPE_CHECKING, Any

from bench.handoff.branches import git
from bench.handoff.stage import SHARES, Played, Stage, diff_of
from bench.memo.replay import Place, load
from triseek.agents import hooks
from triseek.app.hook_handler import HookHandler
from triseek.memo.memo import Memo

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from triseek.engine.service import Service

_OF_WORK = ("read", "edit", "search")
GOAL = "Do as told."
"""All that these agents were asked."""


def play(path: Path, service: Service, folder: Path) -> Played:
    """Play one stream; cut where so many of its uses of files were done."""
    stream = load(path)
    folder.mkdir(parents=True)
    place = Place(folder)
    name = path.name.removesuffix(".json.xz")
    with contextlib.closing(Memo(str(folder / "memo"))) as memo:
        stage = _Day(service, folder, place, stream, memo, name)
        for step in stream["steps"]:
            stage.step(step)
    entries, cuts = stage.stage.end()
    group = f"{stream['client']} {stream['version']}"
    return Played(name, "workday", group, entries, cuts)


class _Day:
    """A stream, as far as it has come."""

    def __init__(
        self, service: Service, folder: Path, place: Place, stream: Mapping[str, Any],
        memo: Memo, name: str,
    ) -> None:  # fmt: skip
        self._place = place
        self._client = stream["client"]
        place.write(stream["steps"][0])
        _commit(place.tree)
        self.stage = Stage(service, folder, place.tree, name, GOAL)
        self._hook_handler = HookHandler(service, memo, self.stage.recorder, refuse=False)
        self._uses = 0
        total = sum(self._count(step) for step in stream["steps"])
        self._cuts = [(round(total * share), share) for share in SHARES]

    def step(self, step: Mapping[str, Any]) -> None:
        """One call of a hook."""
        self._place.write(step)
        payload = self._place.here(step["payload"]).encode()
        self._hook_handler.hook(payload, step["event"], self._client, str(self._place.tree))
        self._uses += self._count(step)
        while self._cuts and self._uses >= self._cuts[0][0]:
            _, share = self._cuts.pop(0)
            tree = self._place.tree
            git(tree, "add", "--intent-to-add", ".")
            files = frozenset(git(tree, "ls-files", "-z").split("\0")) - {""}
            self.stage.cut(share, diff_of(tree, "HEAD"), files)

    def _count(self, step: Mapping[str, Any]) -> int:
        """Uses of files that a step tells of."""
        payload = self._place.here(step["payload"]).encode()
        told = hooks.read(
            payload, event=step["event"], harness=self._client, cwd=str(self._place.tree)
        )
        if told is None or told.use is None or told.moment != "after" or told.use.failed:
            return 0
        return len(told.use.reads) + len(told.use.edits) + bool(told.use.search)


def _commit(tree: Path) -> None:
    """Make a repository of what is there."""
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", str(tree)], check=True)
    git(tree, "add", ".")
    when = "2024-01-01T00:00:00Z"
    git(
        tree, "-c", "user.name=n", "-c", "user.email=n@example.invalid", "commit", "--quiet",
        f"--date={when}", "--message=As it was",
    )  # fmt: skip
