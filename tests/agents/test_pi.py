"""Pi's files."""

from __future__ import annotations

import json

import pytest

from tests.agents.places import PROGRAM, place
from triseek.agents.pi import Pi


@pytest.fixture
def here(tmp_path):
    return place(tmp_path)


@pytest.fixture
def folder(here):
    return here.folder / "home" / ".pi" / "agent"


def written(here, scope="user"):
    return [change.path for change in here.install(Pi(), scope)]


def test_a_person_gets_server_extension_and_command(here, folder):
    assert written(here) == [
        str(folder / "mcp.json"),
        str(folder / "extensions" / "triseek.ts"),
        str(folder / "prompts" / "triseek.md"),
    ]
    assert json.loads((folder / "mcp.json").read_text()) == {
        "mcpServers": {
            "triseek": {"command": PROGRAM, "args": ["mcp", "serve"], "exposure": "direct"}
        }
    }


def test_a_project_gets_them_in_its_folder(here):
    assert written(here, "project") == [
        here.here.in_project(".pi", name)
        for name in ("mcp.json", "extensions/triseek.ts", "prompts/triseek.md")
    ]


def test_its_folder_follows_the_variable(tmp_path):
    there = place(tmp_path, PI_CODING_AGENT_DIR=str(tmp_path / "elsewhere"))

    assert written(there)[0] == str(tmp_path / "elsewhere" / "mcp.json")


def test_the_command_is_a_template_of_its_arguments(here, folder):
    written(here)

    text = (folder / "prompts" / "triseek.md").read_text()

    assert text.startswith("---\ndescription: ")
    assert "$ARGUMENTS" in text


def test_it_is_known_by_its_folder(here, folder):
    assert Pi().detect(here.here) == ""
    folder.mkdir(parents=True)

    assert Pi().detect(here.here) == str(folder)
