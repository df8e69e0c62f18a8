"""Chromium for the tests of the page: where it is, and `python -m tests.ui.chromium` to get it.

Playwright's own browsers come from a host of their own, which not every machine reaches. So it is
one out of npm's registry, of the version named here, put beside the virtual environment; or, where
there is no npm, Debian's package. Run as a file with the word `system` this is Debian's only, and
takes nothing but an interpreter.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

DEBIANS = "chromium-headless-shell"
NAMES = (DEBIANS, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PACKAGE = "@sparticuz/chromium@147.0.0"
OWN = Path(sys.prefix) / "chromium" / "chromium"
LIBRARIES = ("al2023", "swiftshader")
AS_DATA: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
"""The filter came with Python 3.11.4."""

_DECOMPRESS = """
const [from, to] = process.argv.slice(1);
const { readFileSync, writeFileSync } = require("node:fs");
writeFileSync(to, require("node:zlib").brotliDecompressSync(readFileSync(from)));
"""
_RUN = """#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
export LD_LIBRARY_PATH="$here/al2023/lib:$here/swiftshader"
exec "$here/browser" "$@"
"""


def find() -> str | None:
    """The program, if there is one; `TRISEEK_CHROMIUM` names another."""
    chosen = os.environ.get("TRISEEK_CHROMIUM")
    if chosen:
        return chosen
    return next(filter(None, map(shutil.which, NAMES)), str(OWN) if OWN.exists() else None)


def main(*words: str) -> int:
    """Get one, unless there is one; `system`: for all users of the machine."""
    for get in (_from_debian,) if words == ("system",) else (_from_npm, _from_debian):
        if find() is None:
            get()
    print(find() or "no chromium could be had", file=sys.stderr)
    return 0 if find() else 1


def _from_debian() -> None:
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return
    environ = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ("install", "-qq", "-y", "--no-install-recommends", DEBIANS)
    for words in (("update", "-qq"), install):
        subprocess.run(["apt-get", *words], env=environ, stdout=subprocess.DEVNULL, check=False)


def _from_npm() -> None:
    if shutil.which("npm") is None:
        return
    try:
        with tempfile.TemporaryDirectory() as aside:
            _lay_out(_fetched(Path(aside)), OWN.parent)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"not from npm: {error}", file=sys.stderr)


def _fetched(aside: Path) -> Path:
    """The package's folder of compressed files."""
    words = ("npm", "pack", "--silent", PACKAGE, "--pack-destination", str(aside))
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    (pack,) = aside.glob("*.tgz")
    with tarfile.open(pack) as tar:
        tar.extractall(aside, **AS_DATA)
    return aside / "package" / "bin"


def _lay_out(packed: Path, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for part in LIBRARIES:
        _decompress(packed / f"{part}.tar.br", packed / f"{part}.tar")
        with tarfile.open(packed / f"{part}.tar") as tar:
            tar.extractall(folder / part, **AS_DATA)
    _decompress(packed / "chromium.br", folder / "browser")
    (folder / "browser").chmod(0o755)
    OWN.write_text(_RUN, encoding="ascii")
    OWN.chmod(0o755)


def _decompress(compressed: Path, plain: Path) -> None:
    subprocess.run(("node", "-e", _DECOMPRESS, str(compressed), str(plain)), check=True)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
