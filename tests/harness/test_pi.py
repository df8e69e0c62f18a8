"""Pi's files."""

from __future__ import annotations

import json

import pytest

from tests.harness.installing import PROGRAM, Place
from triseek.harness.pi import Pi


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def written(place, scope="user"):
    return [change.path for change in place.install("pi", scope)]


def test_a_person_gets_server_extension_and_command(place):
    folder = place.home / ".pi" / "agent"

    assert written(place) == [
        str(folder / "mcp.json"),
        str(folder / "extensions" / "triseek.ts"),
        str(folder / "prompts" / "triseek.md"),
    ]
    assert json.loads((folder / "mcp.json").read_text()) == {
        "mcpServers": {
            "triseek": {"command": PROGRAM, "args": ["mcp", "serve"], "exposure": "direct"}
        }
    }


def test_a_project_gets_them_in_its_folder(place):
    assert written(place, "project") == [
        str(place.cwd / ".pi" / name)
        for name in ("mcp.json", "extensions/triseek.ts", "prompts/triseek.md")
    ]


def test_its_folder_follows_the_variable(tmp_path):
    place = Place(tmp_path, PI_CODING_AGENT_DIR=str(tmp_path / "elsewhere"))

    assert written(place)[0] == str(tmp_path / "elsewhere" / "mcp.json")


def test_the_command_is_a_template_of_its_arguments(place):
    written(place)

    text = (place.home / ".pi" / "agent" / "prompts" / "triseek.md").read_text()

    assert text.startswith("---\ndescription: ")
    assert "$ARGUMENTS" in text


def test_it_is_known_by_its_folder(place):
    assert Pi().detect(place.here) == ""
    folder = place.home / ".pi" / "agent"
    folder.mkdir(parents=True)

    assert Pi().detect(place.here) == str(folder)
