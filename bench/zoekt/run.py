"""The verb `zoekt` of the bench."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from bench import corpora
from bench import record as records
from bench.zoekt import report
from bench.zoekt.measure import Run

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from bench.progress import Progress


def add_options(parser: argparse.ArgumentParser, page: Path) -> None:
    """Declare the options."""
    parser.add_argument(
        "--setting", action="append", default=[], metavar="NAME",
        help="linux, many, or a corpus (default: linux and many)",
    )  # fmt: skip
    parser.add_argument("--corpus-path", action="append", default=[], metavar="NAME=FOLDER")
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER",
        help="where trees and indexes are kept (default: zoekt in the cache of the corpora)",
    )  # fmt: skip
    parser.add_argument("--out", type=Path, default=page, help="the page")
    parser.add_argument("--record", type=Path, help="folder of the figures; a run goes on there")


def run(options: argparse.Namespace, places: Mapping[str, Path], progress: Progress) -> int:
    """Measure what is not recorded yet, and write the page; 1 if answers differed."""
    folder = options.record or records.new_folder(records.FOLDER, "zoekt")
    file = Path(folder, "zoekt.json")
    measured = Run(file, options.keep or corpora.cache() / "zoekt", progress)
    for name in options.setting or ("linux", "many"):
        measured.setting(name, places)
    document = json.loads(file.read_text("utf-8"))
    options.out.write_text(report.page(document), encoding="utf-8")
    print(folder, options.out, sep="\n")
    return int(report.has_differences(document))
