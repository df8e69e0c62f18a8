"""Choose each corpus's patterns by document frequency, the same way every time.

The rule is TriSeek's search-bench: identifiers of four characters and more, counted in 250
files. Two differences. TriSeek took the first 250 files of its walk; in path order those would
all be the Linux tree's Documentation/ABI, so ours are spread evenly over the listing. And ties
are broken by the token itself, so the choice does not depend on anything else.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import TYPE_CHECKING

from bench.model import Faulty

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

TOKEN = re.compile(rb"(?<![A-Za-z0-9_])[A-Za-z_][A-Za-z0-9_]{3,63}(?![A-Za-z0-9_])")
_FILES = 250
PLACEHOLDERS = (
    *("selective", "moderate", "high", "top1", "top2", "top3", "name1", "name2", "name3"),
    *("slug", "exact_name", "path_substring", "ext"),
)
"""What `<...>` in queries/*.toml may name."""
_GENERIC = frozenset(
    b"src source test tests testing pkg package packages vendor lib libs internal cmd docs doc "
    b"documentation include common third_party node_modules".split()
)


def sample(root: Path, listed: Sequence[bytes], slug: str) -> dict[str, str]:
    """Values for the placeholders of queries/*.toml.

    Raises:
        Faulty: the corpus is too small to choose from.
    """
    step = max(1, len(listed) // _FILES)
    ranked = _ranked(root, listed[::step][:_FILES])
    if len(ranked) < 10:
        raise Faulty(f"{root}: too little text to sample patterns from")
    names = [token for token, _ in ranked]
    moderate = _first(ranked, 5, 50, 4) or _first(ranked, 2, 100, 4) or names[0]
    return {
        "selective": _first(ranked, 1, 3, 6) or names[-1],
        "moderate": moderate,
        "high": _first(ranked, 100, len(listed), 4) or names[0],
        "top1": names[0],
        "top2": names[1],
        "top3": names[2],
        "slug": re.sub(r"[^A-Z0-9]+", "_", slug.upper()),
        "exact_name": os.path.basename(os.fsdecode(listed[0])),
        "path_substring": _path_substring(listed),
        "ext": _extension(listed),
    } | _agents(ranked)


def _ranked(root: Path, paths: Iterable[bytes]) -> list[tuple[str, int]]:
    """Tokens with their document frequency, most frequent first."""
    frequency: Counter[bytes] = Counter()
    for path in paths:
        with open(os.path.join(os.fsencode(root), path), "rb") as file:
            content = file.read()
        if b"\0" not in content:
            frequency.update(set(TOKEN.findall(content)))
    return sorted(
        ((token.decode(), count) for token, count in frequency.items()),
        key=lambda pair: (-pair[1], pair[0]),
    )


def _first(ranked: list[tuple[str, int]], low: int, high: int, length: int) -> str:
    return next(
        (name for name, count in ranked if low <= count <= high and len(name) >= length), ""
    )


def _agents(ranked: list[tuple[str, int]]) -> dict[str, str]:
    """Three names an agent might ask for at once: of few files each, none of them prose."""
    chosen = [
        name for name, count in ranked if 1 <= count <= 3 and len(name) >= 8 and "_" in name[1:-1]
    ]
    chosen = chosen or [name for name, count in ranked if count <= 3]
    return {f"name{place}": chosen[place * len(chosen) // 4] for place in (1, 2, 3)}


def _path_substring(listed: Sequence[bytes]) -> str:
    parts: Counter[bytes] = Counter()
    for path in listed:
        parts.update(path.split(b"/")[:-1][:3])
    usable = [
        (-count, part)
        for part, count in parts.items()
        if len(part) > 2 and part.lower() not in _GENERIC
    ]
    return os.fsdecode(min(usable)[1]) if usable else "e"


def _extension(listed: Sequence[bytes]) -> str:
    found = Counter(os.path.splitext(path)[1] for path in listed)
    del found[b""]
    return os.fsdecode(min((-count, ext) for ext, count in found.items())[1])[1:]


def frequency(root: Path, paths: Iterable[bytes]) -> Counter[str]:
    """Return how often each identifier occurs in some files of a folder; binary files are none."""
    counts: Counter[str] = Counter()
    for path in paths:
        with open(os.path.join(os.fsencode(root), path), "rb") as file:
            content = file.read()
        if b"\0" not in content:
            counts.update(token.decode() for token in TOKEN.findall(content))
    return counts
