"""Files that agents read, and what happens to them behind their backs."""

from __future__ import annotations

import contextlib
import os
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from pathlib import Path

FIRST = (
    "src/app.py", "src/auth.py", "src/deep/router.py", "src/deep/wide.rs", "lib/util.c",
    "lib/table.js", "docs/guide.md", "docs/with space.md", "docs/it's.txt", "notes.txt",
    "long.txt", "huge.log", "same.txt", "blank.txt", "glued.txt", "windows.txt", "latin.txt",
    "empty.txt", "tiny.txt", ".env", "data.bin",
)  # fmt: skip
"""What every tree begins with."""
LINKS = {"link.py": "src/app.py", "lane": "src/deep"}
"""A link to a file and one to a folder."""


def lines_of(data: bytes) -> list[bytes]:
    """The lines as cat, sed and head count them, each without its end."""
    lines = data.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    return lines


def rendered(line: bytes) -> str:
    """A line as an agent is shown it."""
    return line.decode(errors="replace").rstrip("\r")


class Tree:
    """One root with real files; remembers what each file once held."""

    def __init__(self, root: Path, rng: random.Random) -> None:
        self.root = os.path.realpath(root)
        self._rng = rng
        self._once: dict[str, list[bytes]] = {}
        self._words = 0
        os.makedirs(os.path.join(self.root, ".git"))
        for name in FIRST:
            self.write(self.path(name), self._content(name))
        for name, target in LINKS.items():
            os.symlink(os.path.join(self.root, target), self.path(name))

    def path(self, name: str) -> str:
        return os.path.join(self.root, name)

    def names(self) -> list[str]:
        """All that may be asked for, files that are gone too."""
        return [*FIRST, "link.py", "lane/router.py", "lane/wide.rs", "absent.txt"]

    def read(self, path: str) -> bytes | None:
        with contextlib.suppress(OSError), open(path, "rb") as file:
            return file.read()
        return None

    def write(self, path: str, data: bytes) -> None:
        before = self.read(path)
        if before is not None:
            self._once.setdefault(path, []).append(before)
            del self._once[path][:-4]
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)

    def happens(self) -> str:
        """Something is done to a file by nobody who says so; returns its path."""
        path = self.path(self._rng.choice(FIRST))
        ways: tuple[tuple[Callable[[str], None], int], ...] = (
            (self.edit, 30), (self._touch_back, 20), (self._rename_over, 10), (self._delete, 6),
            (self._swap_link, 10), (self._quiet, 12), (self._rewrite, 6), (self._copy_over, 6),
        )  # fmt: skip
        self._rng.choices([way for way, _ in ways], [weight for _, weight in ways])[0](path)
        return path

    def edit(self, path: str) -> None:
        """Change, insert, move or drop some lines."""
        data = self.read(path)
        if not data:
            self.write(path, self._content(path))
            return
        lines, rng = data.split(b"\n"), self._rng
        at = rng.randrange(len(lines))
        match rng.randrange(6):
            case 0:
                lines.insert(at, self._line())
            case 1:
                lines[at : at + rng.randrange(1, 6)] = []
            case 2:
                other = rng.randrange(len(lines))
                lines[at], lines[other] = lines[other], lines[at]
            case 3:
                lines.append(self._line())
            case _:
                lines[at] = self._line()
        self.write(path, b"\n".join(lines))

    def _touch_back(self, path: str) -> None:
        """What it held before it was changed, byte for byte."""
        if once := self._once.get(path):
            self.write(path, self._rng.choice(once))

    def _rename_over(self, path: str) -> None:
        self.write(path + "~", self._rng.choice((self._content(path), self.read(path) or b"")))
        self.edit(path + "~")
        os.replace(path + "~", path)

    def _copy_over(self, path: str) -> None:
        """Another file's content: the same lines under another name."""
        self.write(path, self.read(self.path(self._rng.choice(FIRST))) or b"")

    def _rewrite(self, path: str) -> None:
        self.write(path, self._content(path))

    def _delete(self, path: str) -> None:
        with contextlib.suppress(OSError):
            os.unlink(path)

    def _quiet(self, path: str) -> None:
        """A change that keeps the size and every time stamp."""
        data = self.read(path)
        letters = [at for at, byte in enumerate(data or b"") if 97 <= byte < 122]
        if not data or not letters:
            return
        at, stat = self._rng.choice(letters), os.stat(path)
        self.write(path, data[:at] + bytes([data[at] + 1]) + data[at + 1 :])
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    def _swap_link(self, _path: str) -> None:
        """A link points to something else, or a folder takes a link's place and back."""
        name = self._rng.choice(list(LINKS))
        targets = ("src/app.py", "src/auth.py") if name == "link.py" else ("src/deep", "src")
        self._delete(self.path(name))
        with contextlib.suppress(OSError):
            os.symlink(self.path(self._rng.choice(targets)), self.path(name))

    def _content(self, name: str) -> bytes:
        rng = self._rng
        many = [self._line() for _ in range(rng.randrange(12, 160))]
        match os.path.basename(name):
            case "empty.txt":
                return b""
            case "tiny.txt":
                return b"one\ntwo\n"
            case "huge.log":
                many = [self._line() for _ in range(rng.randrange(2000, 2600))]
            case "same.txt":
                many = [rng.choice((b"    pass", b"    pass", b"    return value", b""))
                        for _ in range(400)]  # fmt: skip
            case "blank.txt":
                many = [b"", b"  ", *many, b"tail with spaces   ", b"", b""]
            case "long.txt":
                many[3:3] = [b"word " * 700, b"x" * 2100]
            case "glued.txt":
                return b"\n".join(many)
            case "windows.txt":
                return b"\r\n".join(many) + b"\r\n"
            case "latin.txt":
                many[2:2] = [b"caf\xe9 cr\xe8me", "schön \u2028 \x0c \x85 gut".encode()]
            case "data.bin":
                return bytes(range(256)) * 8
            case ".env":
                many = [b"SECRET_" + line.replace(b" ", b"=", 1) for line in many[:30]]
        return b"\n".join(many) + b"\n"

    def _line(self) -> bytes:
        """One that was never there before, more often than not."""
        if self._rng.random() < 0.12:
            return self._rng.choice((b"", b"}", b"    return None", b"    pass"))
        self._words += 1
        return b"    %s_%d = call(%d)  #%s" % (
            self._rng.choice((b"alpha", b"beta", b"gamma")),
            self._words,
            self._rng.randrange(1000),
            b" note" * self._rng.randrange(4),
        )

    def close(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
