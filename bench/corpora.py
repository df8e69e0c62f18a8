"""Fetch the trees by package name and keep them unpacked under one cache folder."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from bench.model import Corpus, Faulty

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Source: TypeAlias = dict[str, Any]

_FILE = Path(__file__).with_name("corpora.toml")


def sources() -> dict[str, Source]:
    """All corpora that have a name."""
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


def cache() -> Path:
    """Where corpora are kept: `$TRISEEK_BENCH_CACHE`, else under the user's cache folder."""
    chosen = os.environ.get("TRISEEK_BENCH_CACHE")
    return Path(chosen) if chosen else Path.home() / ".cache" / "triseek-bench"


def find(name: str, places: Mapping[str, Path], rg: str) -> Corpus:
    """Return a corpus, fetching it when it is not there yet.

    Raises:
        Faulty: unknown name, or it cannot be fetched here.
    """
    source = sources().get(name, {})
    if name in places:
        root, version = places[name].resolve(), "as given"
    elif source:
        root, version = fetch(name, source)
    else:
        raise Faulty(f"no corpus named {name!r}; known: {', '.join(sources())}; or --corpus-path")
    return _measured(name, version, root, source.get("files"), rg)


def _measured(name: str, version: str, root: Path, pinned_files: int | None, rg: str) -> Corpus:
    listed = listing(root, rg)
    if not listed:
        raise Faulty(f"{root} holds no file that ripgrep would search")
    size = sum(os.lstat(os.path.join(os.fsencode(root), path)).st_size for path in listed)
    return Corpus(
        name=name,
        version=version,
        root=root,
        files=len(listed),
        size_bytes=size,
        pinned=len(listed) == pinned_files,
    )


def listing(root: Path, rg: str) -> list[bytes]:
    """What `rg --files` lists below `root`, sorted by path."""
    argv = [rg, "--no-config", "--files", "--null", "--sort", "path"]
    done = subprocess.run(argv, cwd=root, capture_output=True, check=False)
    return [path.removeprefix(b"./") for path in done.stdout.split(b"\0") if path]


def fetch(name: str, source: Source) -> tuple[Path, str]:
    """Bring a corpus here; returns its root and its version."""
    kind = source["kind"]
    if kind in {"installed", "site-packages"}:
        return _here(source)
    place = cache() / f"{name}-{source.get('version', 'current')}"
    if not (place / ".complete").exists():
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        _FETCHERS[kind](source, place)
        (place / ".complete").write_text(source.get("version", ""), encoding="utf-8")
    return _only_folder(place / "tree"), _version(source, place)


def _here(source: Source) -> tuple[Path, str]:
    if source["kind"] == "site-packages":
        return Path(sysconfig.get_paths()["purelib"]), f"python {sys.version.split()[0]}"
    spec = importlib.util.find_spec(source["package"])
    if spec is None or spec.origin is None:
        raise Faulty(f"package {source['package']} is not installed here")
    return Path(spec.origin).parent, importlib.metadata.version(source["package"])


def _version(source: Source, place: Path) -> str:
    fetched = place / "version"
    return fetched.read_text(encoding="utf-8") if fetched.exists() else str(source["version"])


def _only_folder(place: Path) -> Path:
    inside = list(place.iterdir())
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else place


def _fetch_sdist(source: Source, place: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        wanted = f"{source['package']}=={source['version']}"
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-binary", ":all:"]
        _call([*pip, "--no-deps", "--dest", scratch, wanted])
        _unpack(next(Path(scratch).iterdir()), place / "tree")


def _fetch_deb(source: Source, place: Path) -> None:
    with tempfile.TemporaryDirectory(dir=place) as scratch:
        _call(["apt-get", "download", source["package"]], cwd=scratch)
        package = next(Path(scratch).glob("*.deb"))
        (place / "version").write_text(package.name.split("_")[1], encoding="utf-8")
        opened = Path(scratch) / "opened"
        _call(["dpkg-deb", "-x", str(package), str(opened)])
        if "archive" in source:
            _unpack(next(opened.glob(source["archive"])), place / "tree")
        else:
            shutil.move(opened / source["folder"], place / "tree")


def _fetch_git(source: Source, place: Path) -> None:
    clone = ["git", "clone", "--quiet", "--depth", "1"]
    at = ["--branch", source["version"]] if source.get("version") else []
    _call([*clone, *at, "--", source["url"], str(place / "tree" / "repository")])


def _fetch_go(source: Source, place: Path) -> None:
    """A module as Go's proxy has it: without what git ignores, and without nested modules."""
    with tempfile.TemporaryDirectory() as scratch:
        wanted = f"{source['package']}@{source['version']}"
        # In a folder of its own no go.mod asks for another toolchain.
        told = _call(["go", "mod", "download", "-json", wanted], cwd=scratch)
        shutil.copytree(json.loads(told)["Dir"], place / "tree" / "module")
        _call(["chmod", "-R", "u+w", str(place)])


def _fetch_npm(source: Source, place: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        _call(["npm", "pack", "--silent", f"{source['package']}@{source['version']}"], cwd=scratch)
        _unpack(next(Path(scratch).glob("*.tgz")), place / "tree")


_FETCHERS: dict[str, Callable[[Source, Path], None]] = {
    "sdist": _fetch_sdist,
    "deb": _fetch_deb,
    "git": _fetch_git,
    "go": _fetch_go,
    "npm": _fetch_npm,
}


def _unpack(archive: Path, place: Path) -> None:
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as files:
            files.extractall(place)
        return
    more: dict[str, Any] = {}
    if hasattr(tarfile, "tar_filter"):  # since Python 3.11.4
        more["filter"] = "tar"
    with tarfile.open(archive) as tar:
        tar.extractall(place, **more)


def _call(argv: Sequence[str], cwd: str | None = None) -> str:
    """Run a program; what it wrote to standard output."""
    try:
        done = subprocess.run(argv, cwd=cwd, check=True, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise Faulty(f"{argv[0]} is not on this machine; give the tree with --corpus-path") from (
            error
        )
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip().splitlines() or ["no message"])[-1]
        raise Faulty(f"{' '.join(argv[:3])} failed: {last}") from error
    return done.stdout
