"""Ways to read a file, and which lines each shows: the truth, not what can be told of it."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from tests.memo.tree import lines_of, rendered

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from tests.memo.tree import Tree

READ_MOST = 2_000


class Portion(NamedTuple):
    """Lines of one file, counted from 1."""

    path: str
    first: int = 1
    last: int | None = None
    tail: int | None = None

    def numbers(self, count: int) -> range:
        if self.tail is not None:
            return range(max(1, count - self.tail + 1), count + 1)
        return range(self.first, min(count, count if self.last is None else self.last) + 1)


class Line(NamedTuple):
    """A line that somebody is shown."""

    path: str
    number: int
    text: str
    size: int
    """In the file, in bytes, its end included."""


@dataclass
class Use:
    """One use of a tool."""

    tool: str
    """read, shell, edit, other or memo."""
    portions: tuple[Portion, ...] = ()
    command: str = ""
    cwd: str = ""
    is_plain: bool = True
    """All it does is to show these portions; nothing is lost if it is not done."""
    style: str = "plain"
    effects: list[str] = field(default_factory=list)
    """Paths it writes."""
    trapped: tuple[str, str] = ("", "")
    """What a use that is not plain shows, and of which file."""
    moves_to: str = ""
    """The folder the shell is in afterwards, where it keeps one."""


class Shown(NamedTuple):
    """What a use comes to."""

    text: bytes
    """As the program prints it."""
    lines: list[Line]
    failed: bool


def shown(use: Use, tree: Tree) -> Shown:
    """What the use shows now."""
    text, lines, failed = b"", [], False
    if not use.is_plain:
        return _trapped(*use.trapped, tree)
    for portion in use.portions:
        data = tree.read(portion.path)
        if data is None:
            failed = True
            continue
        every = lines_of(data)
        numbers = portion.numbers(len(every))
        if use.style == "heads":
            text += b"%s==> %s <==\n" % (b"\n" if text else b"", os.fsencode(portion.path))
        for number in numbers:
            line = every[number - 1]
            end = b"\n" if number < len(every) or data.endswith(b"\n") else b""
            before = b"%6d\t" % number if use.style == "numbered" else b""
            text += before + line + end
            lines.append(Line(portion.path, number, rendered(line), len(line) + 1))
    return Shown(text, lines, failed)


def _trapped(kind: str, path: str, tree: Tree) -> Shown:
    data = tree.read(path)
    if data is None:
        return Shown(b"", [], failed=True)
    lines = [Line(path, number, rendered(line), len(line) + 1)
             for number, line in enumerate(lines_of(data), 1)]  # fmt: skip
    match kind:
        case "nothing":
            return Shown(b"42\n", [], failed=False)
        case "more":
            return Shown(data + b"done\n", lines, failed=False)
        case "backwards":
            lines.reverse()
            return Shown(b"\n".join(reversed(lines_of(data))) + b"\n", lines, failed=False)
        case "start":
            data = data[:200]
            lines = lines[: data.count(b"\n")]
        case "some":
            lines = [line for line in lines if "alpha" in line.text]
            data = b"".join(line.text.encode() + b"\n" for line in lines)
    return Shown(data, lines, failed=False)


def would_show(use: Use, tree: Tree) -> list[Line]:
    """The lines a use shows at most: every agent's own reading tool stops at 2000."""
    lines = shown(use, tree).lines
    return lines[:READ_MOST] if use.tool == "read" else lines


class Reader:
    """Makes up reads as agents write them."""

    def __init__(self, tree: Tree, rng: random.Random) -> None:
        self._tree, self._rng = tree, rng
        self._own_name = 0

    def portion(self, path: str) -> Portion:
        rng = self._rng
        count = len(lines_of(self._tree.read(path) or b""))
        first = rng.randrange(1, max(2, count + 1))
        last = first + rng.choice((0, 15, 30, 60, 60, 200))
        return rng.choices(
            (Portion(path), Portion(path, first, last), Portion(path, first)), (50, 40, 10)
        )[0]

    def shell(self, path: str, cwd: str) -> Use:
        """A command that reads it, as one of the forms agents like, or a trap."""
        return self._rng.choices(
            (self._one, self._several, self._moved, self._trap), (60, 15, 12, 13)
        )[0](path, cwd)

    def _word(self, path: str, cwd: str) -> str:
        """How the agent spells it."""
        if self._rng.random() < 0.6:
            path = os.path.relpath(path, cwd)
        word = shlex.quote(path)
        return f'"{path}"' if word == path and self._rng.random() < 0.2 else word

    def _one(self, path: str, cwd: str) -> Use:
        rng, word = self._rng, self._word(path, cwd)
        first = rng.randrange(1, 80)
        last = first + rng.choice((0, 20, 40, 80, 150))
        some = rng.choice((0, 5, 20, 40, 60, 120))
        command, portion, style = rng.choice((
            (f"cat {word}", Portion(path), "plain"),
            (f"cat -- {word}", Portion(path), "plain"),
            (f"cat -n {word}", Portion(path), "numbered"),
            (f"sed -n '{first},{last}p' {word}", Portion(path, first, last), "plain"),
            (f"sed -n {first},{last}p {word}", Portion(path, first, last), "plain"),
            (f"sed -n '{first}p' {word}", Portion(path, first, first), "plain"),
            (f"sed -n '{first},$p' {word}", Portion(path, first), "plain"),
            (f"head {word}", Portion(path, 1, 10), "plain"),
            (f"head -n {some} {word}", Portion(path, 1, some), "plain"),
            (f"head -{max(some, 1)} {word}", Portion(path, 1, max(some, 1)), "plain"),
            (f"tail {word}", Portion(path, tail=10), "plain"),
            (f"tail -n {some} {word}", Portion(path, tail=some), "plain"),
            (f"tail -n +{first} {word}", Portion(path, first), "plain"),
            (f"nl -ba {word} | sed -n '{first},{last}p'", Portion(path, first, last), "numbered"),
            (f"cat {word} | head -n {max(some, 1)}", Portion(path, 1, max(some, 1)), "plain"),
        ))  # fmt: skip
        return Use("shell", (portion,), command, cwd, style=style)

    def _several(self, path: str, cwd: str) -> Use:
        rng = self._rng
        other = self._tree.path(rng.choice(self._tree.names()))
        one, two = self._word(path, cwd), self._word(other, cwd)
        command, portions, style = rng.choice((
            (f"cat {one} {two}", (Portion(path), Portion(other)), "plain"),
            (f"cat {one} {one}", (Portion(path), Portion(path)), "plain"),
            (f"cat {one}; cat {two}", (Portion(path), Portion(other)), "plain"),

            (f"cat {one} && sed -n '3,30p' {two}", (Portion(path), Portion(other, 3, 30)), "plain"),
            (f"head -n 15 {one} {two}", (Portion(path, 1, 15), Portion(other, 1, 15)), "heads"),
        ))  # fmt: skip
        use = Use("shell", portions, command, cwd, style=style)
        if " && " in command and self._tree.read(path) is None:
            use.portions = portions[:1]
        return use

    def _moved(self, path: str, cwd: str) -> Use:
        folder = os.path.dirname(path)
        inner = self._one(path, folder)
        if not os.path.isdir(folder):
            return inner
        inner.command = f"cd {self._word(folder, cwd)} && {inner.command}"
        inner.cwd, inner.moves_to = cwd, folder
        return inner

    def _trap(self, path: str, cwd: str) -> Use:
        """What reads, and does more than that, or shows something else."""
        rng, word = self._rng, self._word(path, cwd)
        self._own_name += 1
        made = f"made_{self._own_name}.tmp"
        kind, commands = rng.choice((
            ("nothing", (
                f"cat {word} > {made}", f"cat {word} | wc -l", f"cat {word} >/dev/null",
                f"git show HEAD:{word}", f"ssh host cat {word}", f"cat {word} | md5sum",
                f"sed -i '1d' {made}; sed -n '1,5w {made}' {word}", f"! cat {word} >> {made}",
            )),
            ("more", (
                f"cat {word} | tee {made}", f"cat {word} && touch {made}", f"cat {word}; make",
                f"cat {word} && date", f"cat {word} & date", f"cat $(echo {word}); date",
                f"cat {word} <(date)", f"cat {word} || rm -f {made}", f"F={word}; cat $F; date",
                f"cat {word}\ndate", f"cat {word} - <<< done", f"cat `echo {word}` && rm {made}",
                f"timeout 1 tail -f -n +1 {word}", f"cat {word}; cat {word} > {made}",
            )),
            ("backwards", (f"tac {word}", f"cat {word} | tac", f"cat {word} | sort")),
            ("start", (f"head -c 200 {word}", f"cat {word} | head -c 200")),
            ("some", (
                f"cat {word} | grep alpha", f"sed -n '/alpha/p' {word}", f"grep alpha {word}",
                f"sed -n '1~2p' {word}", f"sed '1d' {word}", f"cat -A {word}", f"cut -c1-9 {word}",
            )),
        ))  # fmt: skip
        command = rng.choice(commands)
        return Use("shell", (), command, cwd, is_plain=False, trapped=(kind, path))


def overlaps(use: Use, tree: Tree) -> Iterator[tuple[str, set[int]]]:
    """Which lines of which files a use asks for."""
    for portion in use.portions:
        data = tree.read(portion.path)
        if data is not None:
            yield os.path.realpath(portion.path), set(portion.numbers(len(lines_of(data))))
