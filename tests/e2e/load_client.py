"""Some clients of the daemon, a thread each, that check every answer.

    python -m tests.e2e.load_client SETTINGS

prints a JSON report. Questions are of two kinds: about files that never change, whose answers were
written down before, and about what the editor (`tests.e2e.editing`) has just done.
"""

from __future__ import annotations

import json
import os
import random
import sys
import threading
import time
from typing import NamedTuple

from tests.e2e import speaking
from tests.e2e.editing import SLOTS, Ledger


class Settings(NamedTuple):
    root: str
    ledger: str
    stable: str
    """A file of [words, status, output] of what never changes."""
    stop: str
    """Where this file is, clients stop before they have asked all."""
    threads: int
    requests: int
    """By each."""
    by_process: float
    """Share of requests by real processes."""
    falls_back: bool
    """Whether a daemon that is gone, or declines, is no error: a process answers then."""
    seed: str


class Report:
    """What happened, of all threads."""

    def __init__(self):
        self.seconds, self.process_seconds = [], []
        self.wrong, self.errors = [], []
        self.checked_edits = self.moved = self.fell_back = 0

    def as_json(self):
        return json.dumps(vars(self))


class Asker:
    """One client."""

    def __init__(self, settings, stable, ledger, report, number):
        self.settings, self.stable = settings, stable
        self.ledger, self.report = ledger, report
        self.chance = random.Random(f"{settings.seed}-{number}")

    def run(self):
        for _ in range(self.settings.requests):
            if os.path.exists(self.settings.stop):
                return
            try:
                self.one()
            except Exception as error:  # noqa: BLE001 - whatever it is, it is told
                self.report.errors.append(repr(error))

    def one(self):
        slot = self.chance.randrange(SLOTS)
        state = self.ledger.read(slot) if self.chance.random() < 0.6 else None
        if state is None:  # by chance, or because the editor has not come to that slot yet
            words, status, out = self.chance.choice(self.stable)
            self.check(words, self.ask(words), (status, out.encode(), b""))
            return
        words, expected = self.about(state)
        answer = self.ask(words)
        if self.ledger.still(slot, state):
            self.report.checked_edits += 1
            self.check(words, answer, expected, state._asdict())
        else:
            self.report.moved += 1

    def about(self, state):
        """Words, and what has to be answered."""
        there, path = bool(state.path), state.path
        words, out = self.chance.choice((
            (["-l", "--", state.token], f"{path}\n"),
            (["-n", "-F", state.token], f"{path}:2:{state.token} and more\n"),
            (["-c", f"{state.token} an[d] mo"], f"{path}:1\n"),
            (["-n", "-B1", state.token],
             f"{path}-1-a line above\n{path}:2:{state.token} and more\n"),
            (["-l", state.token, "own"], f"{path}\n"),
            (["--files", "-g", path or "own/nothing/at/all"], f"{path}\n"),
        ))  # fmt: skip
        return words, (0 if there else 1, out.encode() if there else b"", b"")

    def ask(self, words):
        began = time.perf_counter()
        if self.chance.random() < self.settings.by_process:
            answer = speaking.run(words)
            self.report.process_seconds.append(time.perf_counter() - began)
            return answer
        try:
            answer = speaking.ask(words)
            self.report.seconds.append(time.perf_counter() - began)
        except (speaking.Broken, speaking.Refused):
            if not self.settings.falls_back:
                raise
            self.report.fell_back += 1
            answer = speaking.run(words)
        return answer

    def check(self, words, answer, expected, state=None):
        if tuple(answer) != tuple(expected):
            told = [[part if isinstance(part, int) else part.decode(errors="replace")[:2000]
                     for part in said] for said in (answer, expected)]  # fmt: skip
            self.report.wrong.append([words, *told, state])


def main(text):
    settings = Settings(**json.loads(text))
    os.chdir(settings.root)
    with open(settings.stable, encoding="utf-8") as file:
        stable = json.load(file)
    report, ledger = Report(), Ledger(settings.ledger)
    askers = [Asker(settings, stable, ledger, report, k) for k in range(settings.threads)]
    threads = [threading.Thread(target=asker.run) for asker in askers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(report.as_json())


if __name__ == "__main__":
    main(sys.argv[1])
