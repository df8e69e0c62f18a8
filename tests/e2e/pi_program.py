"""A current Pi from npm.

Its package runs as it is unpacked: the program is one bundle, and needs nothing but jiti, by which
it loads extensions. (An installation by name would take an older Pi wherever npm itself runs on a
Node older than Pi asks for, or where packages are missing that the bundle holds already.)
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from tests.e2e.mcp_clients import FOLDER, Unreachable

VERSION = "1.5.2"
_PACKAGE = f"@earendil-works/pi-coding-agent@{VERSION}"
_LOADER = "jiti@2.7.0"


def pi_folder(node: Path) -> Path:
    """A folder with the program `pi`; takes seconds the first time.

    node: the folder of a Node that is new enough.

    Raises:
        Unreachable: nothing can be installed from here.
    """
    kept = Path(os.environ.get(FOLDER) or tempfile.gettempdir(), f"triseek-pi-{VERSION}")
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(dir=kept.parent))
        try:
            _unpack(aside)
            with contextlib.suppress(OSError):  # somebody else was quicker
                aside.rename(kept)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    program = kept / "bin" / "pi"
    if not program.exists():
        program.parent.mkdir(exist_ok=True)
        cli = kept / "package" / "dist" / "bundle" / "cli.js"
        program.write_text(f'#!/bin/sh\nexec "{node / "node"}" "{cli}" "$@"\n')
        program.chmod(0o755)
    return program.parent


def _unpack(folder: Path) -> None:
    if shutil.which("npm") is None:
        raise Unreachable("npm is not there")
    packed = _npm("pack", _PACKAGE, "--silent", cwd=folder)
    if packed.returncode:
        raise Unreachable(f"npm does not get Pi: {packed.stderr.strip()[-200:]}")
    [archive] = folder.glob("*.tgz")
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    archive.unlink()
    (folder / "package.json").write_text("{}")
    done = _npm("install", "--no-audit", "--no-fund", "--ignore-scripts", _LOADER, cwd=folder)
    assert done.returncode == 0, done.stderr


def _npm(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["npm", *words], cwd=cwd, capture_output=True, text=True, timeout=900, check=False
    )
