"""The questions: queries/*.toml, with placeholders filled by sampling the corpus."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.model import Case

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench.model import Corpus

_FOLDER = Path(__file__).with_name("queries")


def cases(corpus: Corpus, sampled: Mapping[str, str], groups: tuple[str, ...]) -> list[Case]:
    """All cases of the named groups (none named: of all) that are meant for this corpus."""
    found = []
    for path in sorted(_FOLDER.glob("*.toml")):
        group = tomllib.loads(path.read_text(encoding="utf-8"))
        meant = group.get("corpora", [corpus.name])
        if corpus.name in meant and (not groups or path.stem in groups):
            found += [_case(path.stem, raw, corpus, sampled) for raw in group["case"]]
    return found


def about() -> dict[str, str]:
    """What each group is, and what it does not show."""
    return {
        path.stem: tomllib.loads(path.read_text(encoding="utf-8"))["about"]
        for path in sorted(_FOLDER.glob("*.toml"))
    }


def _case(group: str, raw: dict[str, Any], corpus: Corpus, sampled: Mapping[str, str]) -> Case:
    def filled(texts: list[str]) -> tuple[str, ...]:
        return tuple(_fill(text, sampled) for text in texts)

    return Case(
        name=f"{group}/{raw['name']}",
        about=raw.get("about", ""),
        patterns=filled(raw.get("patterns", [])),
        fixed=raw.get("fixed", False),
        ignore_case=raw.get("ignore_case", False),
        word=raw.get("word", False),
        globs=filled(raw.get("globs", [])),
        mode=raw.get("mode", "lines"),
        limit=raw.get("limit"),
        expect=raw.get("expect") if corpus.pinned else None,
    )


def _fill(text: str, sampled: Mapping[str, str]) -> str:
    """Replace `<name>`; braces are left to the regular expressions."""
    for name, value in sampled.items():
        text = text.replace(f"<{name}>", value)
    return text
