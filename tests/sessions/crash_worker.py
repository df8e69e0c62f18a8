"""Opens, logs, makes snapshots and takes in packs until somebody kills it: `folder seed`.

What was done is told in a line each, as soon as it is: whoever reads the line may count on it.
"""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

from tests.sessions.snapshots import ABOUT, PINNED, WORK
from triseek.sessions import pack
from triseek.sessions.lifecycle import Sessions
from triseek.sessions.snapshot import LOG_MAX, Snapshots


def tell(*words: object) -> None:
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


class Worker:
    """One life of it."""

    def __init__(self, folder: Path, seed: str) -> None:
        self.folder, self.seed = folder, seed
        self.chance = random.Random(seed)
        self.root = str(folder / "repo")
        self.sessions = Sessions(folder / "sessions")
        self.snapshots = Snapshots(folder / "snapshots")
        self.open: list[str] = []
        self.count = 0

    def live(self) -> None:
        """Until it is killed."""
        self.begin()
        while True:
            draw = self.chance.random()
            if draw < 0.70:
                self.log()
            elif draw < 0.80:
                self.begin()
            elif draw < 0.84 and len(self.open) > 1:
                self.end()
            elif draw < 0.88:
                self.sessions.save()
            elif draw < 0.95:
                self.keep()
            else:
                self.take_in()

    def begin(self) -> None:
        self.count += 1
        name = f"s{self.seed}-{self.count}"
        self.sessions.open(self.root, "goal", name)
        tell("open", name)
        self.open.append(name)

    def end(self) -> None:
        name = self.open.pop(0)
        self.sessions.close(name, "resolved")
        tell("close", name)

    def log(self) -> None:
        name = self.chance.choice(self.open)
        self.count += 1
        token = f"{self.seed}-{self.count}"
        payload = {"token": token, "text": "x" * self.chance.choice([0, 100, 9_000])}
        tell("entry", self.sessions.record(name, "read", payload), name, token)

    def keep(self) -> None:
        session = self.sessions.get(self.chance.choice(self.open))
        newest = self.sessions.log(session.session_id).newest(LOG_MAX)
        made, _ = self.snapshots.create(session, newest, WORK, PINNED, ABOUT)
        tell("snapshot", made.snapshot_id, len(newest.entries))

    def take_in(self) -> None:
        made = self.snapshots.take_in(pack.unpack(self.folder / "given.tcp"))
        tell("snapshot", made.snapshot_id, 2)


if __name__ == "__main__":
    Worker(Path(sys.argv[1]), sys.argv[2]).live()
