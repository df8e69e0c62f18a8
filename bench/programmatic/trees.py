"""The repositories side by side in one folder, as somebody keeps them who works in several."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from bench import command
from bench.model import Faulty

if TYPE_CHECKING:
    from collections.abc import Mapping

_FILE = Path(__file__).with_name("repositories.toml")


class Repository(NamedTuple):
    """A repository in the folder."""

    name: str
    """Of its folder."""
    url: str
    version: str

    @property
    def full_name(self) -> str:
        """The name by which workflows know it."""
        address = urlsplit(self.url)
        return f"{address.netloc}{address.path}"


def prepared(below: Path, clones: Mapping[str, str]) -> list[Repository]:
    """Clone the repositories into a folder, those that are not there yet.

    clones: Clones to take repositories from instead of their addresses, by name.

    Raises:
        Faulty: One cannot be had here.
    """
    below.mkdir(parents=True, exist_ok=True)
    return [_prepared(below, *item, clones) for item in sources().items()]


def sources() -> dict[str, dict[str, Any]]:
    """Return the repositories that are asked about, by name."""
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


def _prepared(
    below: Path, name: str, source: Mapping[str, Any], clones: Mapping[str, str]
) -> Repository:
    place, version = below / name, str(source["version"])
    mark = below / f".{name}-{version}"
    if not mark.exists():
        shutil.rmtree(place, ignore_errors=True)
        clone = ("clone", "--quiet", "--no-checkout", "--depth", "1", "--branch", version, "--")
        _git(below, *clone, clones.get(name, source["url"]), name)
        if "without" in source:
            patterns = (f"!{pattern}" for pattern in source["without"])
            _git(place, "sparse-checkout", "set", "--no-cone", "/*", *patterns)
        _git(place, "checkout", "--quiet", "--detach", version)
        _git(place, "remote", "set-url", "origin", source["url"])
        mark.touch()
    return Repository(name, source["url"], version)


def _git(folder: Path, *words: str) -> None:
    ended = command.run(["git", *words], cwd=folder)
    if ended.code:
        raise Faulty(f"git {words[0]} in {folder}: {ended.errors[-200:]}")
