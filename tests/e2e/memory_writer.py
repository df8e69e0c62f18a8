"""A process that writes into a memory in many ways, and prints what it expects to find there."""

from __future__ import annotations

import json
import random
import sys
from typing import TYPE_CHECKING

from triseek.memory.drawers import Draft
from triseek.memory.service import Memory

if TYPE_CHECKING:
    from collections.abc import Callable

PALACE = "shop"
DREAM_EVERY = 97
"""Writes between two consolidations."""


class Writer:
    """Writes what no other writer writes, and keeps what has to be there."""

    def __init__(self, who: str) -> None:
        self.memory = Memory()
        self.who = who
        self.chance = random.Random(int(who))
        self.texts: dict[str, str] = {}
        """Drawers by UUID, those that were forgotten included."""
        self.forgotten: set[str] = set()
        self.facts: dict[str, list[str]] = {}
        """Objects that hold, by subject."""

    def write(self, number: int) -> None:
        """Do one write, chosen at random."""
        ways: list[Callable[[int], None]] = [
            self.remember, self.remember, self.remember, self.update, self.forget, self.restore,
            self.assert_fact, self.assert_multi, self.retract,
        ]  # fmt: skip
        self.chance.choice(ways)(number)
        if number % DREAM_EVERY == DREAM_EVERY - 1:
            self.memory.dream(budget_s=1)

    def remember(self, number: int) -> None:
        text = f"writer {self.who} event {number}"
        draft = Draft(text=text, room=f"room {number % 3}", tags=[self.who, f"n{number}"])
        self.texts[self.memory.remember(PALACE, draft).uuid] = text

    def update(self, number: int) -> None:
        if uuid := self._one(set(self.texts) - self.forgotten):
            text = f"writer {self.who} changed {number}"
            self.texts[self.memory.update(PALACE, uuid, text).uuid] = text

    def forget(self, number: int) -> None:
        if uuid := self._one(set(self.texts) - self.forgotten):
            assert self.memory.forget(PALACE, uuid)
            self.forgotten.add(uuid)

    def restore(self, number: int) -> None:
        if uuid := self._one(self.forgotten):
            assert self.memory.restore(PALACE, uuid)
            self.forgotten.remove(uuid)

    def assert_fact(self, number: int) -> None:
        subject = f"single {self.who} {number % 5}"
        self.memory.assert_fact(PALACE, (subject, "is", str(number)))
        self.facts[subject] = [str(number)]

    def assert_multi(self, number: int) -> None:
        subject = f"multi {self.who} {number % 3}"
        self.memory.assert_fact(PALACE, (subject, "has", str(number)), multi=True)
        self.facts.setdefault(subject, []).append(str(number))

    def retract(self, number: int) -> None:
        if subject := self._one({name for name, objects in self.facts.items() if objects}):
            predicate = "is" if subject.startswith("single") else "has"
            target = self.chance.choice(self.facts[subject])
            assert self.memory.retract(PALACE, (subject, predicate, target)) == 1
            self.facts[subject].remove(target)

    def _one(self, names: set[str]) -> str:
        return self.chance.choice(sorted(names)) if names else ""


def main(who: str, count: int) -> None:
    """Do `count` writes."""
    writer = Writer(who)
    for number in range(count):
        writer.write(number)
    document = {
        "texts": writer.texts,
        "forgotten": sorted(writer.forgotten),
        "facts": {subject: objects for subject, objects in writer.facts.items() if objects},
    }
    print(json.dumps(document))
    writer.memory.close()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
