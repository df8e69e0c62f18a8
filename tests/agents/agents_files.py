"""Files like AGENTS.md, as anybody may have written them; each by a seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.agents.install.managed_block import BEGIN, END

if TYPE_CHECKING:
    import random

ENDS = (b"\n", b"\n", b"\r\n", b"\r")
BOM = b"\xef\xbb\xbf"
OTHERS = (
    b"<!-- BEGIN other-tool -->\nkeep me\n<!-- END other-tool -->",
    b"<!-- TRISEEK:BEGIN rules -->\nanother block of ours\n<!-- TRISEEK:END rules -->",
    b"<!-- nx configuration start-->\n# Nx\n<!-- nx configuration end-->",
    b"# >>> conda initialize >>>\nx\n# <<< conda initialize <<<",
)
TEXTS = (
    b"# Title", b"", b"- a point", b"  indented", b"\tTabs", "é ü 漢字 \U0001f600".encode(),
    b"a  b   ",
    b"<!-- a comment -->", b"<!-- never closed", b"-->", b"---", b"| a | b |", b"@docs/rules.md",
    b"<details>", b"TRISEEK:BEGIN hydration", b"TRISEEK:END hydration", b"``` `not a fence",
    b"\x0c", b"\x0b", b"\x1c", "\u2028".encode(), "\u0085".encode(), b"\x1b[31mred", b"\\",
    b"%s {0}",
)  # fmt: skip
QUOTES = (
    b"The block begins with `" + BEGIN + b"`, and ends later.",
    b"> " + BEGIN,
    b"- `" + END + b"`",
    b"x" + BEGIN + b"\nx" + END,
)
"""Our marks in sentences."""
HIGHER = "résumé naïf".encode("latin-1"), "日本語".encode("shift-jis"), "日本語".encode("gb18030")


def agents_file(chance: random.Random) -> bytes:
    """One file, at most with one block of ours."""
    parts = [_part(chance) for _ in range(chance.choice([0, 1, 3, 10, 40]))]
    if chance.random() < 0.4:
        parts.insert(chance.randint(0, len(parts)), _block(chance))
    end = chance.choice(ENDS)
    held = b"\n".join(parts).replace(b"\n", end)
    return _begun(held + (end if chance.random() < 0.6 else b""), chance)


def _begun(held: bytes, chance: random.Random) -> bytes:
    return BOM + held if chance.random() < 0.15 else held


def _part(chance: random.Random) -> bytes:
    draw = chance.random()
    if draw < 0.6:
        return chance.choice(TEXTS)
    if draw < 0.7:
        return chance.choice(OTHERS)
    if draw < 0.8:
        return _fenced(chance)
    if draw < 0.87:
        return chance.choice(QUOTES)
    if draw < 0.92:
        return chance.choice(HIGHER)
    if draw < 0.96:
        return chance.randbytes(chance.choice([1, 40, 3_000])).replace(b"\n", b"\0")
    return b"x" * chance.choice([5_000, 300_000])


def _fenced(chance: random.Random) -> bytes:
    """Code; now and then the documentation of our own block, whole or half."""
    fence = chance.choice([b"```", b"````", b"~~~", b"   ```"])
    inner = chance.choice(
        [b"make test", BEGIN + b"\nexample\n" + END, BEGIN, END, END + b"\n" + BEGIN, b"  " + BEGIN]
    )
    return fence + chance.choice([b"", b"text", b" sh "]) + b"\n" + inner + b"\n" + fence.strip()


def _block(chance: random.Random) -> bytes:
    """A block of ours: of today, of an earlier wording, moved to the right, or edited."""
    begin = chance.choice([BEGIN, BEGIN, b"<!-- TRISEEK:BEGIN hydration -->", BEGIN + b"  "])
    inner = chance.choice(
        [b"", b"old", b"# TriSeek Hydration Payload\n\n````text\ncode\n````", b"```\nnever closed",
         b"edited by hand\n\n\n", b"- `<!-- triseek:BEGIN hydration -->`"]
    )  # fmt: skip
    space = chance.choice([b"", b"", b"  ", b"\t"])
    return space + begin + b"\n" + inner + b"\n" + space + END + chance.choice([b"", b"", b"  "])
