"""Figures that are kept in one JSON file, part by part, and shown on one page."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path


def read(folder: Path, name: str) -> dict[str, Any]:
    """Return what a record has so far. name: Of the file, without its ending."""
    path = folder / f"{name}.json"
    kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return kept


def write(
    measured: Mapping[str, Any], folder: Path, name: str, parts: Iterable[str], page: Path
) -> None:
    """Write the record, and the page from its paragraphs and tables."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(measured, separators=(",", ":"), sort_keys=True)
    (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    page.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
