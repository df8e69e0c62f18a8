"""OpenCode's files."""

from __future__ import annotations

import json

import pytest

from tests.harness import installing
from tests.harness.installing import PROGRAM, Place
from triseek.errors import ConfigWriteFailed
from triseek.harness.opencode import OpenCode


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def written(place, scope="user"):
    return [change.path for change in place.install("opencode", scope)]


def test_a_person_gets_server_plugin_and_command(place):
    folder = place.home / ".config" / "opencode"

    assert written(place) == [
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


def test_a_project_gets_them_in_its_folders(place):
    assert written(place, "project") == [
        str(place.cwd / "opencode.json"),
        str(place.cwd / ".opencode" / "plugins" / "triseek.ts"),
        str(place.cwd / ".opencode" / "commands" / "triseek.md"),
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
def test_the_file_that_counts_most_is_edited(place, there, edited):
    folder = place.home / ".config" / "opencode"
    for name in there:
        place.write(folder / name, b'// mine\n{"model": "a/b"}\n')

    installing.comes_and_goes(place, "opencode", folder / edited)


def test_the_file_that_has_us_is_edited_again(place):
    folder = place.home / ".config" / "opencode"
    written(place)
    place.write(folder / "opencode.jsonc", b'{"model": "a/b"}')

    assert written(place) == []
    place.uninstall("opencode")
    assert list(folder.iterdir()) == [folder / "opencode.jsonc"]


def test_its_folder_follows_the_variable(tmp_path):
    place = Place(tmp_path, XDG_CONFIG_HOME=str(tmp_path / "elsewhere"))

    assert written(place)[0] == str(tmp_path / "elsewhere" / "opencode" / "opencode.json")


def test_it_is_known_by_its_folder(place):
    assert OpenCode().detect(place.here) == ""
    folder = place.home / ".config" / "opencode"
    folder.mkdir(parents=True)

    assert OpenCode().detect(place.here) == str(folder)


def test_a_plugin_that_is_not_ours_stays(place):
    plugin = place.home / ".config" / "opencode" / "plugins" / "triseek.ts"
    place.write(plugin, b"export default {}\n")
    before = place.everything()

    with pytest.raises(ConfigWriteFailed, match="not ours"):
        place.install("opencode")

    assert place.everything() == before
