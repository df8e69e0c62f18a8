"""A generated tree of some thousand files, and the changes that happen to it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

WORDS = [f"word{number:03d}" for number in range(400)]
EVERYWHERE = "token_everywhere"


class GeneratedTree:
    """Files whose tokens are known; every change brings a token of its own."""

    def __init__(self, root: Path, files: int, seed: int = 1) -> None:
        self.root = root
        self.choice = random.Random(seed)
        self.tokens = [EVERYWHERE, "token_of_file_0001"]
        for number in range(files):
            path = root / f"dir{number % 37:02d}" / f"file{number:04d}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self._text(f"token_of_file_{number:04d} {EVERYWHERE}"))

    def change(self, number: int) -> list[str]:
        """Edit one file, add one, remove one; tokens that are new, old or gone by now."""
        token = f"token_of_change_{number:04d}"
        edited, removed = self.choice.sample(sorted(self.root.glob("dir*/*.txt")), 2)
        lost = [path.read_text().split()[0] for path in (edited, removed)]
        edited.write_text(self._text(token))
        removed.unlink()
        added = self.root / f"dir{self.choice.randrange(40):02d}" / f"added{number:04d}.txt"
        added.parent.mkdir(exist_ok=True)
        added.write_text(self._text(f"{token}_added"))
        self.tokens = [EVERYWHERE, *self.tokens[-2:], *lost, token]
        return self.tokens

    def _text(self, first: str) -> str:
        lines = (" ".join(self.choice.choices(WORDS, k=12)) for _ in range(40))
        return "\n".join((first, *lines)) + "\n"
