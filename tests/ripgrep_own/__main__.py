"""Run ripgrep's own integration tests with triseek in the place of rg.

`python -m tests.ripgrep_own [BACKEND...] [--filter NAME...]` runs them on each of these backends:

- `scan`: `--engine scan`, which uses no index and no rg;
- `auto`: no index, so ripgrep where its answer is the same;
- `index`: an index of the folder is built before each search;
- `daemon`: `auto`, answered by a warm daemon.

Cargo downloads the `ripgrep` crate and builds its tests below the virtual environment, once. Each
test starts `rg` in the folder above the one that its own program lies in; that `rg` is a script
which calls this checkout. `expected_failures.txt` lists the tests that fail for want of a flag.
The run fails if another test fails, or if a test of that list passes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests import rg
from triseek.kernels import cache

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

VERSION = rg.VERSION.decode().split()[1]
BUILT = Path(sys.prefix) / "ripgrep-own"
"""Where the crate's source and its test program are kept."""
EXPECTED = Path(__file__).with_name("expected_failures.txt")
BACKENDS = {
    "scan": ("--no-daemon", "--engine", "scan"),
    "auto": ("--no-daemon",),
    "index": ("--no-daemon",),
    "daemon": (),
}
TRISEEK = str(Path(sys.executable).with_name("triseek"))
_PROJECT = f"""[package]
name = "holder"
version = "0.0.0"
edition = "2021"

[dependencies]
ripgrep = "={VERSION}"
"""
_RESULT = re.compile(r"^test (\S+) \.\.\. (ok|FAILED)$", re.MULTILINE)


def main(words: list[str] | None = None) -> int:
    """Run the tests on each backend; 0 if all results are as expected."""
    parser = argparse.ArgumentParser(prog="python -m tests.ripgrep_own")
    parser.add_argument(
        "backend", nargs="*", help=f"of {', '.join(BACKENDS)}; scan and auto if omitted"
    )
    parser.add_argument("--filter", nargs="+", default=[], help="parts of names of tests")
    asked = parser.parse_args(words)
    backends = asked.backend or ["scan", "auto"]
    if unknown := set(backends) - set(BACKENDS):
        parser.error(f"unknown backend: {', '.join(sorted(unknown))}")
    program = built()
    as_expected = [_is_as_expected(program, backend, asked.filter) for backend in backends]
    return int(not all(as_expected))


def built() -> Path:
    """The crate's test program, which is downloaded and built unless it is there."""
    source = BUILT / f"ripgrep-{VERSION}"
    if not source.is_dir():
        _download(source)
    # A workspace of its own: a Cargo.toml in a folder above is none of its business.
    manifest = source / "Cargo.toml"
    if "[workspace]" not in (text := manifest.read_text()):
        manifest.write_text(text + "\n[workspace]\n")
    words = ("cargo", "test", "--no-run", "--locked", "--message-format", "json")
    done = subprocess.run(words, cwd=source, stdout=subprocess.PIPE, check=True)
    for line in done.stdout.splitlines():
        artifact = json.loads(line)
        if artifact.get("executable") and artifact["target"]["kind"] == ["test"]:
            return Path(artifact["executable"])
    raise SystemExit("cargo built no integration test")


def _download(source: Path) -> None:
    """Have cargo unpack the crate: that of a dependency, because cargo has no other verb for it."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "src").mkdir()
        (Path(folder) / "src" / "lib.rs").touch()
        (Path(folder) / "Cargo.toml").write_text(_PROJECT)
        words = ("cargo", "vendor", "--quiet", "--versioned-dirs", "vendored")
        subprocess.run(words, cwd=folder, stdout=subprocess.DEVNULL, check=True)
        BUILT.mkdir(exist_ok=True)
        shutil.move(Path(folder) / "vendored" / source.name, source)


def _is_as_expected(program: Path, backend: str, filters: list[str]) -> bool:
    expected = expected_failures()
    results = run(program, backend, filters)
    failed = {name for name, result in results.items() if result == "FAILED"}
    unexpected = sorted(failed - set(expected))
    mended = sorted(name for name in expected if results.get(name) == "ok")
    unknown = [] if filters else sorted(set(expected) - set(results))
    for name in unexpected:
        print(f"{backend}: {name} failed")
    for name in mended:
        print(f"{backend}: {name} passes: take it out of {EXPECTED.name}")
    for name in unknown:
        print(f"{backend}: there is no test {name}: take it out of {EXPECTED.name}")
    passed, due = len(results) - len(failed), len(failed) - len(unexpected)
    print(f"{backend}: {passed} of {len(results)} passed, {due} failed as expected", flush=True)
    return bool(results) and not (unexpected or mended or unknown)


def expected_failures() -> dict[str, str]:
    """Each test that is known to fail, and why."""
    lines = (line for line in EXPECTED.read_text().splitlines() if line and line[0] != "#")
    return dict(line.split(maxsplit=1) for line in lines)


def run(program: Path, backend: str, filters: list[str]) -> dict[str, str]:
    """Run the tests on one backend: `ok` or `FAILED` for each. What failed says why on stderr."""
    with tempfile.TemporaryDirectory(prefix="ripgrep-own-") as folder:
        top = Path(folder)
        environment = _environment(top)
        (top / "deps").mkdir()
        placed = top / "deps" / program.name
        shutil.copy(program, placed)
        (top / "rg").write_text(_script(backend, environment))
        (top / "rg").chmod(0o755)
        _triseek(environment, "warmup")
        with _daemon(environment) if backend == "daemon" else _nothing():
            done = subprocess.run(
                (placed, *filters), env=environment, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, text=True, errors="replace", check=False,
            )  # fmt: skip
    results = dict(_RESULT.findall(done.stdout))
    if "FAILED" in results.values():
        print(done.stdout.partition("\nfailures:\n")[2], file=sys.stderr)
    return results


def _environment(top: Path) -> dict[str, str]:
    """This process's environment without the user's settings, with a state folder of its own."""
    kernels = Path(__file__).parents[2] / ".pytest_cache" / "kernels" / cache.digest()
    home, scratch = top / "home", top / "scratch"
    home.mkdir()
    scratch.mkdir()
    unset = ("XDG_CONFIG_HOME", "RIPGREP_CONFIG_PATH", "TRISEEK_NO_DAEMON")
    return {
        "NUMBA_CACHE_DIR": str(kernels),
        **{name: value for name, value in os.environ.items() if name not in unset},
        "HOME": str(home),
        "TRISEEK_HOME": str(home / "triseek"),
        "TMPDIR": str(scratch),
        "PATH": os.pathsep.join((str(Path(rg.program()).parent), os.environ["PATH"])),
    }


def _script(backend: str, environment: Mapping[str, str]) -> str:
    """What the tests start as `rg`."""
    triseek = shlex.quote(TRISEEK)
    named = ("HOME", "TRISEEK_HOME", "NUMBA_CACHE_DIR", "PATH")
    lines = [f"export {name}={shlex.quote(environment[name])}" for name in named]
    if backend == "index":
        lines.append(f"{triseek} build . >/dev/null 2>&1 </dev/null")
    flags = shlex.join(BACKENDS[backend])
    return "\n".join(["#!/bin/sh", *lines, f'exec {triseek} {flags} "$@"', ""])


def _triseek(environment: Mapping[str, str], *words: str) -> None:
    subprocess.run((TRISEEK, *words), env=dict(environment), stdout=subprocess.DEVNULL, check=True)


@contextmanager
def _daemon(environment: Mapping[str, str]) -> Iterator[None]:
    _triseek(environment, "daemon", "start")
    try:
        yield
    finally:
        _triseek(environment, "daemon", "stop")


@contextmanager
def _nothing() -> Iterator[None]:
    yield


if __name__ == "__main__":
    sys.exit(main())
