"""Random trees: folders, files, links, ignore rules inside and above the root,
edits after a build."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tests.fuzz.case import ROOT, Entry, Tree
from tests.fuzz.contents import make_content
from tests.strategies_trees import IGNORE_NAMES, ODD, PLAIN, make_line

if TYPE_CHECKING:
    from random import Random

NAMES = [*PLAIN, "a.txt", "b.txt", "c.py", "d.md", "README.md", "src", "sub", "lib", "k"]


def make_tree(random: Random) -> Tree:
    """A tree of some twenty files with its root two folders below the base."""
    maker = _Maker(random)
    maker.folder(b"up")
    maker.folder(ROOT)
    maker.fill(ROOT, 0)
    maker.above()
    edits = maker.edits() if random.random() < 0.4 else ()
    return Tree(tuple(maker.entries.values()), edits)


class _Maker:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.entries: dict[bytes, Entry] = {}

    def folder(self, path: bytes) -> None:
        self.entries[path] = Entry(path, "folder")

    def file(self, path: bytes, data: bytes) -> None:
        self.entries[path] = Entry(path, "file", data)

    def fill(self, folder: bytes, depth: int) -> None:
        random = self.random
        names = {os.fsencode(name) for name in random.sample(NAMES, random.randint(1, 5))}
        if random.random() < 0.4:
            names |= {os.fsencode(name) for name in random.sample(ODD, random.randint(1, 2))}
        if random.random() < 0.05:
            names.add(b"\xff.c")
        for name in sorted(names):
            self._fill_one(folder + b"/" + name, depth)
        self.rules(folder, 0.25 if depth else 0.5)

    def _fill_one(self, path: bytes, depth: int) -> None:
        random = self.random
        if depth < 3 and random.random() < 0.3:
            self.folder(path)
            if random.random() < 0.95:
                self.fill(path, depth + 1)
        elif random.random() < 0.06:
            targets = [
                b".",
                b"..",
                b"a",
                b"nowhere",
                b"foo.c",
                b"sub",
                b"../root",
                b"../../up/side",
            ]
            self.entries[path] = Entry(path, "link", random.choice(targets))
        else:
            self.file(path, make_content(random))

    def rules(self, folder: bytes, chance: float) -> None:
        for name in IGNORE_NAMES:
            if self.random.random() < chance / 2:
                self.file(folder + b"/" + name.encode(), self._rules())
        if self.random.random() < chance / 2:
            self.folder(folder + b"/.git")
            if self.random.random() < 0.4:
                self.folder(folder + b"/.git/info")
                self.file(folder + b"/.git/info/exclude", self._rules())

    def above(self) -> None:
        """Rules and files outside the root."""
        random = self.random
        self.rules(b"up", 0.4)
        if random.random() < 0.5:
            self.folder(b"up/side")
            self.file(b"up/side/foo.c", make_content(random))
        if random.random() < 0.3:
            self.file(b"up/outside.txt", make_content(random))
        if random.random() < 0.25:
            self.file(b"home/.config/git/ignore", self._rules())
        self.file(b"rules", self._rules())

    def _rules(self) -> bytes:
        random = self.random
        lines = [self._line() for _ in range(random.randint(1, 4))]
        data = "\n".join(lines).encode() + random.choice([b"\n", b"\n", b""])
        if random.random() < 0.08:
            data = data.replace(b"\n", b"\r\n")
        if random.random() < 0.03:
            data = b"\xef\xbb\xbf" + data
        if random.random() < 0.04:
            data += b"\nb\xffd\nfoo\n"
        return data

    def _line(self) -> str:
        if self.random.random() < 0.5:
            return make_line(self.random)
        return glob_for(self.random, self._some_path())

    def _some_path(self) -> str:
        known = [path for path in self.entries if path.startswith(ROOT + b"/")]
        path = self.random.choice(known) if known else ROOT + b"/a"
        return path[len(ROOT) + 1 :].decode(errors="replace")

    def edits(self) -> tuple[Entry, ...]:
        """Files that are written, made and removed after the index was built."""
        random = self.random
        files = [path for path, entry in self.entries.items() if entry.kind == "file"]
        made = []
        for _ in range(random.randint(1, 3)):
            path = random.choice(files)
            kind = random.random()
            if kind < 0.5:
                rules = os.path.basename(path) in (
                    b".gitignore",
                    b".ignore",
                    b".rgignore",
                    b"rules",
                )
                made.append(Entry(path, "file", self._rules() if rules else make_content(random)))
            elif kind < 0.7:
                made.append(Entry(path, "removed"))
            else:
                made.append(Entry(ROOT + b"/new.txt", "file", make_content(random)))
        return tuple({entry.path: entry for entry in made}.values())


def glob_for(random: Random, path: str) -> str:
    """A glob with a good chance to match a path, or something near it."""
    folder, _, name = path.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    escaped = "".join(f"\\{char}" if char in "*?[]{}!\\#" else char for char in path)
    base = escaped.rpartition("/")[2]
    return random.choice(
        [
            escaped, "/" + escaped, base, "**/" + base,
            f"*{dot}{suffix}" if dot else base[:1] + "*",
            folder + "/*" if folder else "/*", folder + "/**" if folder else "**", base + "/",
            f"/{base}", f"{stem}*" if stem else "*", base.swapcase(), f"{base[:-1]}?",
            f"[{base[:1]}]*",
            f"{{{base},zzz}}", "*", "*/*", "**/*" + dot + suffix,
            f"/{folder}/" if folder else "/",
            "!" + base, "!" + escaped, "!/" + escaped, "../" + base, "./" + escaped,
        ]
    )  # fmt: skip
