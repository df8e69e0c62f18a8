"""The verb `programmatic` of the bench."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from bench import corpora
from bench import record as records
from bench.engines.base import program_path
from bench.model import Faulty
from bench.programmatic import measure, report

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from bench.progress import Progress

RECORD = "programmatic.json"
BEFORE = "before.json"
"""What was measured before the workflows were mended by half of the tasks."""


def add_options(parser: argparse.ArgumentParser, page: Path) -> None:
    """Declare the options."""
    parser.add_argument("--clone", action="append", default=[], metavar="NAME=PATH")
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER",
        help="where the repositories are kept (default: programmatic in the cache of the corpora)",
    )  # fmt: skip
    parser.add_argument("--out", type=Path, default=page, help="the page")
    parser.add_argument("--record", type=Path, help="folder of the figures")
    parser.add_argument(
        "--before", action="store_true", help="record the figures to compare with, without a page"
    )


def run(options: argparse.Namespace, clones: Mapping[str, Path], progress: Progress) -> int:
    """Measure, and write the record and the page."""
    rg = program_path("rg")
    if not rg:
        raise Faulty("rg is not on PATH; it is what answers are compared with")
    folder = Path(options.record or records.new_folder(records.FOLDER, "programmatic"))
    folder.mkdir(parents=True, exist_ok=True)
    below = options.keep or corpora.cache() / "programmatic"
    texts = {name: str(path) for name, path in clones.items()}
    measured = measure.run(below.resolve(), texts, rg, progress)
    file = folder / (BEFORE if options.before else RECORD)
    file.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    print(file)
    if not options.before:
        options.out.write_text(report.page(*read(folder)), encoding="utf-8")
        print(options.out)
    return 0


def read(folder: Path) -> tuple[dict[str, object], dict[str, object] | None]:
    """Return the record of a folder, and what was measured before it, if that is kept."""
    before = folder / BEFORE
    measured = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    return measured, json.loads(before.read_text(encoding="utf-8")) if before.exists() else None
