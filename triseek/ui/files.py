"""The page's own files: a few texts that are in the package, each under its one name.

They are read once and named here, so that no name a browser asks for leads to a file.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

_HTML, _CSS, _JS = "text/html", "text/css", "text/javascript"
FILES = {
    "/": ("index.html", _HTML),
    "/page.css": ("page.css", _CSS),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
    **{
        f"/{name}.js": (f"{name}.js", _JS)
        for name in ("main", "ask", "dom", "search", "state", "sessions", "entries", "snapshots")
    },
}
_FOLDER = Path(__file__).parent / "static"


class File(NamedTuple):
    """One file as it is sent."""

    content: bytes
    media_type: str


def load() -> dict[str, File]:
    """Every file by its path in a URL."""
    return {
        path: File((_FOLDER / name).read_bytes(), media_type)
        for path, (name, media_type) in FILES.items()
    }
