"""Real agents read what is installed: their own listings show triseek, and load its plugins.

They are installed from npm; where that cannot be, the tests are skipped and say why. None has an
account, and each has a home of its own.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.agents.places import plant
from tests.e2e import client_configs
from tests.e2e.mcp_clients import Unreachable, installed
from triseek.agents import registry
from triseek.agents.base import InstallPlace
from triseek.agents.install import apply
from triseek.errors import ConfigWriteFailed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.agents.install.writing import FileChange

pytestmark = pytest.mark.slow

PATIENCE_S = 240
KINDS = (
    *client_configs.STRICT, *client_configs.COMMENTED, *client_configs.BROKEN,
    "symlinked", "read-only",
)  # fmt: skip
REFUSED = (*client_configs.BROKEN, "read-only")
PI_REFUSED = (*client_configs.COMMENTED, *REFUSED)
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture(scope="module")
def programs() -> str:
    """What PATH begins with."""
    try:
        return str(installed())
    except Unreachable as error:
        pytest.skip(str(error))


class Scratch:
    """A home, a project and a triseek that is this one."""

    def __init__(self, folder: Path, programs: str) -> None:
        self.home, self.cwd, start = folder / "home", folder / "project", folder / "bin" / "triseek"
        for made in (self.home, self.cwd, start.parent):
            made.mkdir()
        start.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m triseek "$@"\n')
        start.chmod(0o755)
        (self.cwd / "a.txt").write_text("needle\n")
        self.environ = {
            **{name: os.environ[name] for name in ("LANG", "TMPDIR") if name in os.environ},
            "PATH": os.pathsep.join([programs, os.environ["PATH"]]),
            "HOME": str(self.home),
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "TRISEEK_HOME": str(folder / "triseek"),
            "TRISEEK_NO_DAEMON": "1",
            "NUMBA_CACHE_DIR": os.environ.get("NUMBA_CACHE_DIR", ""),
            "PI_OFFLINE": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }
        self.here = InstallPlace(str(start), str(self.home), str(self.cwd), self.environ)

    def install(self, name: str) -> list[FileChange]:
        client = registry.by_name(name)
        assert client
        assert client.detect(self.here)
        owner = apply.owner_of(name, "user", self.here.cwd)
        return apply.install(client.plan("user", self.here), owner)

    def uninstall(self, name: str) -> None:
        client = registry.by_name(name)
        assert client
        owner = apply.owner_of(name, "user", self.here.cwd)
        apply.uninstall(client.plan("user", self.here), owner)

    def run(self, *words: str, given: str = "") -> str:
        done = subprocess.run(
            words, cwd=self.cwd, env=self.environ, input=given, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=PATIENCE_S, check=False,
        )  # fmt: skip
        return _COLOURS.sub("", done.stdout)


def prepare(place: Scratch, path: Path, kind: str, servers: str, other: dict[str, object]) -> None:
    """A home's config, of one of the kinds."""
    special = kind in ("symlinked", "read-only")
    content = client_configs.config("other servers" if special else kind, servers, other)
    if kind == "symlinked":
        real = place.home / "dotfiles" / path.name
        plant(str(real), content)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(real)
        return
    plant(str(path), content)
    if kind == "read-only":
        path.chmod(0o444)


def is_refused(place: Scratch, name: str, path: Path) -> None:
    before, beside = state(path), sorted(path.parent.iterdir())
    with pytest.raises(ConfigWriteFailed, match=path.name):
        place.install(name)
    assert (state(path), sorted(path.parent.iterdir())) == (before, beside)


def state(path: Path) -> tuple[bytes, int, bool] | None:
    if not path.exists():
        return None
    return path.read_bytes(), stat.S_IMODE(path.stat().st_mode), path.is_symlink()


@pytest.fixture(scope="module")
def fetched(tmp_path_factory: pytest.TempPathFactory, programs: str) -> Scratch:
    """One home for all: OpenCode fetches a package into its folder once, which takes a minute."""
    place = Scratch(tmp_path_factory.mktemp("opencode"), programs)
    place.run("opencode", "mcp", "list")
    return place


class TestOpenCode:
    @pytest.fixture
    def place(self, fetched: Scratch) -> Iterator[Scratch]:
        folder = fetched.home / ".config" / "opencode"
        (folder / "opencode.jsonc").unlink(missing_ok=True)  # its own first one
        yield fetched
        for name in ("opencode.jsonc", "opencode.json", "config.json"):
            (folder / name).unlink(missing_ok=True)
        shutil.rmtree(fetched.home / "dotfiles", ignore_errors=True)

    @pytest.mark.parametrize("kind", KINDS)
    def test_its_listing_shows_a_server_that_answers(self, place: Scratch, kind: str) -> None:
        folder = place.home / ".config" / "opencode"
        path = folder / "opencode.json"
        other = {"type": "local", "command": ["true"], "enabled": False}
        prepare(place, path, kind, "mcp", other)
        before = state(path)
        if kind in REFUSED:
            is_refused(place, "opencode", path)
            return

        place.install("opencode")
        listed = place.run("opencode", "mcp", "list")

        assert re.search(r"✓ triseek\s+connected", listed), listed
        assert ("other" in listed) == (b'"other"' in (before or (b"",))[0])
        assert place.install("opencode") == []
        place.uninstall("opencode")
        assert state(path) == before
        assert not (folder / "plugins").exists()
        assert not (folder / "commands").exists()

    def test_the_plugin_and_the_command_are_read(self, place: Scratch) -> None:
        place.install("opencode")

        told = place.run("opencode", "debug", "config")

        read = json.loads(told[told.index("{") :])
        assert [one for one in read["plugin"] if one.endswith("/plugins/triseek.ts")]
        assert "$ARGUMENTS" in read["command"]["triseek"]["template"]
        place.uninstall("opencode")


class TestPi:
    @pytest.fixture
    def place(self, tmp_path: Path, programs: str) -> Scratch:
        return Scratch(tmp_path, programs)

    @pytest.mark.parametrize("kind", KINDS)
    def test_its_listing_shows_a_server_that_answers(self, place: Scratch, kind: str) -> None:
        path = place.home / ".pi" / "agent" / "mcp.json"
        prepare(place, path, kind, "mcpServers", {"command": "true", "enabled": False})
        before = state(path)
        if kind in PI_REFUSED:
            is_refused(place, "pi", path)
            return

        place.install("pi")
        told = json.loads(place.run("pi", "mcp", "list", "--json"))

        servers = {server["name"]: server for server in told["servers"]}
        assert servers["triseek"]["state"] == "connected", told
        assert ("other" in servers) == (b'"other"' in (before or (b"",))[0])
        assert place.install("pi") == []
        place.uninstall("pi")
        assert state(path) == before
        assert not (path.parent / "extensions").exists()
        assert not (path.parent / "prompts").exists()

    def test_the_extension_and_the_template_are_read(self, place: Scratch) -> None:
        place.install("pi")

        told = place.run(
            "pi", "--mode", "rpc", "--no-session", "--offline",
            given='{"type": "get_commands", "id": "1"}\n',
        )  # fmt: skip

        answers = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
        [answer] = [one for one in answers if one.get("id") == "1"]
        sources = {one["name"]: one["source"] for one in answer["data"]["commands"]}
        assert sources["triseek-memo"] == "extension"
        assert sources["triseek"] == "prompt"


def test_geminis_listing_shows_the_server(tmp_path: Path, programs: str) -> None:
    place = Scratch(tmp_path, programs)
    place.install("gemini")

    listed = place.run("gemini", "mcp", "list")

    assert re.search(r"✓ triseek: .*Connected", listed), listed
    place.uninstall("gemini")
    assert not (place.home / ".gemini" / "settings.json").exists()


def test_clines_listing_shows_the_server(tmp_path: Path, programs: str) -> None:
    place = Scratch(tmp_path, programs)
    place.install("cline")

    told = place.run("cline", "config", "mcp", "--json")

    [server] = json.loads(told)
    assert (server["name"], server["disabled"]) == ("triseek", False)
    place.uninstall("cline")
    assert not (place.home / ".cline" / "data" / "settings" / "cline_mcp_settings.json").exists()
