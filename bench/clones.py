"""Histories of other projects, cloned once and kept beside the corpora."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from bench import corpora
from bench.model import Faulty

if TYPE_CHECKING:
    from pathlib import Path


def cloned(name: str, git: str) -> Path:
    """The bare clone of a project, from its address `git`.

    Raises:
        Faulty: it cannot be cloned here.
    """
    place = corpora.cache() / f"history-{name}"
    if not (place / "HEAD").exists():
        clone = ["git", "clone", "--quiet", "--bare", "--", git, str(place)]
        try:
            subprocess.run(clone, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise Faulty(
                f"{git} cannot be cloned here; give a clone: --git {name}=FOLDER"
            ) from error
    return place
