"""Engines by name, from engines.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.engines.csearch import Csearch
from bench.engines.git_grep import GitGrep
from bench.engines.rgx import Rgx
from bench.engines.ripgrep import Ripgrep
from bench.engines.triseek_daemon import TriseekDaemon
from bench.engines.triseek_inprocess import TriseekInprocess
from bench.engines.triseek_process import TriseekProcess
from bench.engines.zoekt import Zoekt
from bench.model import Faulty

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.engines.base import Engine

_FILE = Path(__file__).parents[1] / "engines.toml"
_KINDS: dict[str, type[Engine]] = {
    "csearch": Csearch,
    "git_grep": GitGrep,
    "rgx": Rgx,
    "ripgrep": Ripgrep,
    "triseek_daemon": TriseekDaemon,
    "triseek_inprocess": TriseekInprocess,
    "triseek_process": TriseekProcess,
    "zoekt": Zoekt,
}


def settings() -> dict[str, dict[str, Any]]:
    """Everything engines.toml says."""
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


def engines(names: Sequence[str], corpus: str, scratch: Path) -> list[Engine]:
    """Make the named engines; none named: all that are meant for this corpus."""
    known = settings()
    for name in names:
        if name not in known:
            raise Faulty(f"no engine named {name!r}; known: {', '.join(known)}")
    chosen = names or [name for name in known if corpus in known[name].get("corpora", [corpus])]
    return [_KINDS[known[name]["kind"]](name, known[name], scratch) for name in chosen]
