"""What a process costs before it does anything: subtract it in your head, we do not."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import answer, command, figures
from bench.engines.triseek_process import command_line, environment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.engines.base import Engine

_TIMES = 7


def measure(rg: str) -> dict[str, Any]:
    """Start-up times of ripgrep and of the interpreter."""
    return {
        "rg --version": _floor([rg, "--version"]),
        "python -c pass": _floor([sys.executable, "-c", "pass"]),
    }


def fresh_install(root: Path, engines: Sequence[Engine], rg: str) -> dict[str, Any]:
    """The first search ever: no index, no compiled kernel, nothing under TRISEEK_HOME."""
    if not any(engine.name == "triseek-cli" for engine in engines):
        return {}
    seconds = []
    reference = answer.read(
        command.run([rg, "--no-config", "-n", "import", "."], cwd=root, keep=True).output, "lines"
    )
    argv = command_line("-n", "import", ".")
    for _ in range(3):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
            env = environment(os.path.join(home, "state"), kernels=False)
            ended = command.run(argv, cwd=root, env=env, keep=True)
            verdict = answer.compare(
                reference, answer.read(ended.output, "lines"), "exact", frozenset()
            )
            if verdict.status != "equal":
                return {"status": "error", "note": verdict.note or ended.errors[:200]}
            seconds.append(ended.seconds)
    return figures.reduced(seconds)


def _floor(argv: list[str]) -> dict[str, Any]:
    here = Path.cwd()
    return figures.reduced([command.run(argv, cwd=here).seconds for _ in range(_TIMES)])
