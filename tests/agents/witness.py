"""A `triseek` to install into agents that keeps what its hooks are told, and says nothing.

Beside a payload it keeps what a later replay needs: the files of the tree, and how far the agent
had written its transcripts. What it is asked otherwise, the real program does.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from pathlib import Path

from tests.programs import PYTHON

ROOT = Path(__file__).parents[2]
_PROGRAM = """\
{python}import os, sys
sys.path.insert(0, {root!r})
os.environ.update({environ!r})
if sys.argv[1:2] == ["hook"]:
    from tests.agents.witness import keep
    keep({kept!r}, {tree!r})
else:
    from triseek.cli.main import main
    sys.exit(main())
"""


def program(path: Path, kept: Path, tree: Path, environ: dict[str, str]) -> str:
    """Write the program; it keeps what it is told in the folder `kept`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    (kept / "contents").mkdir(parents=True, exist_ok=True)
    text = _PROGRAM.format(
        python=PYTHON, root=str(ROOT), environ=environ, kept=str(kept), tree=str(tree)
    )
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def keep(folder: str, tree: str) -> None:
    """Keep one call of a hook, as `sys.argv` and standard input tell it."""
    at_ns = time.time_ns()
    words = sys.argv[2:]
    payload = sys.stdin.buffer.read()
    told = {
        "at_ns": at_ns,
        "event": words[0],
        "harness": words[words.index("--harness") + 1],
        "payload": payload.decode(),
        "files": _files(tree, folder),
        "written": _written(payload),
    }
    name = os.path.join(folder, f"{at_ns:020}-{os.getpid()}.json")
    with open(name + ".new", "x", encoding="utf-8") as file:
        json.dump(told, file)
    os.rename(name + ".new", name)


def _files(tree: str, folder: str) -> dict[str, str]:
    """What each file of the tree holds, by the digest that names its content."""
    found = {}
    for path in Path(tree).rglob("*"):
        if ".git" in path.parts or not path.is_file():
            continue
        data = path.read_bytes()
        digest = hashlib.blake2b(data, digest_size=8).hexdigest()
        found[str(path.relative_to(tree))] = digest
        content = Path(folder, "contents", digest)
        if not content.exists():
            content.write_bytes(data)
    return found


def _written(payload: bytes) -> dict[str, int]:
    """The bytes of each transcript of the session."""
    transcript = json.loads(payload).get("transcript_path")
    if not transcript:
        return {}
    main = Path(transcript)
    beside = main.with_suffix("") / "subagents"
    return {
        str(path): path.stat().st_size for path in (main, *beside.glob("*.jsonl")) if path.exists()
    }
