"""OpenCode's files."""

from __future__ import annotations

import json

import pytest

from tests.agents.places import PROGRAM, place, plant
from triseek.agents.opencode import OpenCode
from triseek.errors import ConfigWriteFailed


@pytest.fixture
def here(tmp_path):
    return place(tmp_path)


@pytest.fixture
def folder(here):
    return here.folder / "home" / ".config" / "opencode"


def written(here, scope="user"):
    return [change.path for change in here.install(OpenCode(), scope)]


def test_a_person_gets_server_plugin_and_command(here, folder):
    assert written(here) == [
        str(folder / "opencode.json"),
        str(folder / "plugins" / "triseek.ts"),
        str(folder / "commands" / "triseek.md"),
    ]
    assert json.loads((folder / "opencode.json").read_text()) == {
        "$schema": "https://opencode.ai/config.json",
        "mcp": {
            "triseek": {"type": "local", "command": [PROGRAM, "mcp", "serve"], "enabled": True}
        },
    }


def test_a_project_gets_them_in_its_folders(here):
    assert written(here, "project") == [
        here.here.in_project(*names)
        for names in (
            ("opencode.json",),
            (".opencode", "plugins", "triseek.ts"),
            (".opencode", "commands", "triseek.md"),
        )
    ]


@pytest.mark.parametrize(
    ("there", "edited"),
    [
        (["opencode.jsonc"], "opencode.jsonc"),
        (["opencode.json", "config.json"], "opencode.json"),
        (["config.json"], "config.json"),
        (["opencode.jsonc", "opencode.json", "config.json"], "opencode.jsonc"),
    ],
)
def test_the_file_that_counts_most_is_edited(here, folder, there, edited):
    for name in there:
        plant(str(folder / name), b'// mine\n{"model": "a/b"}\n')
    before = here.snapshot()

    assert written(here)[0] == str(folder / edited)
    assert written(here) == []
    here.uninstall(OpenCode(), "user")
    assert here.snapshot() == before


def test_the_file_that_has_us_is_edited_again(here, folder):
    written(here)
    plant(str(folder / "opencode.jsonc"), b'{"model": "a/b"}')

    assert written(here) == []
    here.uninstall(OpenCode(), "user")
    assert list(folder.iterdir()) == [folder / "opencode.jsonc"]


def test_its_folder_follows_the_variable(tmp_path):
    there = place(tmp_path, XDG_CONFIG_HOME=str(tmp_path / "elsewhere"))

    assert written(there)[0] == str(tmp_path / "elsewhere" / "opencode" / "opencode.json")


def test_it_is_known_by_its_folder(here, folder):
    assert OpenCode().detect(here.here) == ""
    folder.mkdir(parents=True)

    assert OpenCode().detect(here.here) == str(folder)


def test_a_plugin_that_is_not_ours_stays(here, folder):
    plant(str(folder / "plugins" / "triseek.ts"), b"export default {}\n")
    before = here.snapshot()

    with pytest.raises(ConfigWriteFailed, match="not ours"):
        written(here)

    assert here.snapshot() == before
