"""An editor in a process of its own, and a ledger by which others know what it has done.

    python -m tests.e2e.editing ROOT LEDGER STOP SEED PAUSE

Every slot of the ledger is one file with a token that no other file ever had. While a slot is being
changed its number is odd; whoever finds the same even number before a question and after its answer
knows exactly what the answer had to be (a sequence lock, as in the kernel's seqlock.h).
"""

from __future__ import annotations

import json
import mmap
import os
import random
import shutil
import sys
import time
from typing import NamedTuple

SLOTS = 96
_RECORD = 512


class State(NamedTuple):
    """What one slot is since its last change."""

    version: int
    token: str
    path: str
    """Below the root; "" for a file that is gone."""

    @property
    def text(self):
        return f"a line above\n{self.token} and more\n"


class Ledger:
    """Slots in a mapped file: one process writes, any number read."""

    def __init__(self, path, *, create=False):
        with open(path, "w+b" if create else "r+b") as file:
            if create:
                file.truncate(SLOTS * _RECORD)
            self._map = mmap.mmap(file.fileno(), SLOTS * _RECORD)

    def begin(self, slot):
        self._set(slot, self._number(slot) + 1)

    def end(self, slot, token, path):
        body = json.dumps([token, path]).encode().ljust(_RECORD - 8)
        assert len(body) == _RECORD - 8
        self._map[slot * _RECORD + 8 : (slot + 1) * _RECORD] = body
        self._set(slot, self._number(slot) + 1)

    def read(self, slot):
        """The slot's state; None while it is being changed."""
        before = self._number(slot)
        body = self._map[slot * _RECORD + 8 : (slot + 1) * _RECORD]
        if before % 2 or not before or self._number(slot) != before:
            return None
        return State(before, *json.loads(body))

    def still(self, slot, state):
        """Whether nothing was done to a slot since it was read."""
        return self._number(slot) == state.version

    def _number(self, slot):
        return int.from_bytes(self._map[slot * _RECORD : slot * _RECORD + 8], "little")

    def _set(self, slot, number):
        self._map[slot * _RECORD : slot * _RECORD + 8] = number.to_bytes(8, "little")


class Editor:
    """Edits, creates, deletes, renames; one deed at a time, each told in the ledger."""

    def __init__(self, root, ledger, seed):
        self.root, self.ledger = root, ledger
        self.chance = random.Random(seed)
        self.deeds = 0

    def run(self, stop, pause):
        for slot in range(SLOTS):
            self.do(slot, self.create)
        while not os.path.exists(stop):
            slot = self.chance.randrange(SLOTS)
            gone = not self.ledger.read(slot).path
            deeds = (self.rewrite, self.replace, self.move, self.delete, self.recreate)
            self.do(slot, self.create if gone else self.chance.choice(deeds))
            time.sleep(self.chance.uniform(0, 2 * pause))

    def do(self, slot, deed):
        before = self.ledger.read(slot)
        self.deeds += 1
        self.ledger.begin(slot)
        token = f"edited_{slot:02d}_{self.deeds:06d}_{self.chance.randrange(10**8):08d}x"
        self.ledger.end(slot, *deed(slot, before, token))

    def create(self, slot, before, token):
        path = f"own/{slot:02d}/{self.chance.randrange(3)}/{self.chance.randrange(9)}.txt"
        self._write(path, token)
        return token, path

    def rewrite(self, slot, before, token):
        """Of the same length, so that only times tell."""
        self._write(before.path, token)
        return token, before.path

    def replace(self, slot, before, token):
        self._write(before.path + "~", token)
        os.replace(self._at(before.path + "~"), self._at(before.path))
        return token, before.path

    def move(self, slot, before, token):
        """The old token in a new place, often in a new folder."""
        path = f"own/{slot:02d}/{self.chance.randrange(5)}/moved.txt"
        os.makedirs(os.path.dirname(self._at(path)), exist_ok=True)
        os.rename(self._at(before.path), self._at(path))
        return before.token, path

    def delete(self, slot, before, token):
        os.unlink(self._at(before.path))
        return before.token, ""

    def recreate(self, slot, before, token):
        """The whole folder goes, and another takes its name."""
        shutil.rmtree(self._at(f"own/{slot:02d}"))
        return self.create(slot, before, token)

    def _at(self, path):
        return os.path.join(self.root, path)

    def _write(self, path, token):
        os.makedirs(os.path.dirname(self._at(path)), exist_ok=True)
        with open(self._at(path), "w", encoding="utf-8") as file:
            file.write(State(0, token, path).text)


def main(root, ledger, stop, seed, pause):
    editor = Editor(root, Ledger(ledger), int(seed))
    editor.run(stop, float(pause))
    print(json.dumps({"deeds": editor.deeds}))


if __name__ == "__main__":
    main(*sys.argv[1:])
