"""Results on disk: record/<date>-<processor>[-<profile>]/results.json and machine.json."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any, TypeAlias

from bench import machine
from bench.model import Faulty

Record: TypeAlias = dict[str, Any]

FORMAT = 1
FOLDER = Path(__file__).with_name("record")
_PROFILES = ("daemon", "mcp", "hooks", "programmatic", "tokens", "zoekt")
"""Runs that are kept in a folder of their own."""


def new_folder(below: Path, profile: str) -> Path:
    """A folder for today's run on this machine; a second one of a profile replaces the first."""
    today = dt.datetime.now(tz=dt.UTC).date().isoformat()
    folder = below / f"{today}-{machine.slug()}{_suffix(profile)}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write(folder: Path, results: Record, described: Record) -> None:
    """Write both files, readable and diffable."""
    for name, value in (("results.json", results), ("machine.json", described)):
        text = json.dumps(value, indent=1, ensure_ascii=False, default=_plain)
        (folder / name).write_text(text + "\n", encoding="utf-8")


def read(folder: Path) -> tuple[Record, Record]:
    """The two files of a run.

    Raises:
        Faulty: not a record, or of another format.
    """
    try:
        results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
        described = json.loads((folder / "machine.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Faulty(f"{folder} is no record of a run: {error}") from error
    if results.get("format") != FORMAT:
        raise Faulty(f"{folder} has format {results.get('format')}, this reads {FORMAT}")
    return results, described


def latest() -> list[Path]:
    """The newest records kept here: of a run of everything, then of the daemon's, if there is one.

    Raises:
        Faulty: there is none.
    """
    folders = sorted(path for path in FOLDER.glob("*") if (path / "results.json").exists())
    of_daemon = [path for path in folders if path.name.endswith(_suffix("daemon"))]
    others = [path for path in folders if path not in of_daemon]
    if not folders:
        raise Faulty("there is no record yet; `python -m bench run` makes one")
    return [*others[-1:], *of_daemon[-1:]]


def _suffix(profile: str) -> str:
    return f"-{profile}" if profile in _PROFILES else ""


def _plain(value: object) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
