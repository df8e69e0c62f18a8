"""VS Code's files."""

from __future__ import annotations

import json

import pytest

from tests.agents.places import place
from triseek.agents.vscode import VSCode


@pytest.fixture
def here(tmp_path):
    return place(tmp_path)


def test_every_edition_that_is_there_gets_the_server(here):
    configs = here.folder / "home" / ".config"
    users = [configs / name / "User" for name in ("Code", "Code - Insiders")]
    for user in users:
        user.mkdir(parents=True)

    changed = [change.path for change in here.install(VSCode(), "user")]

    assert changed == [str(user / "mcp.json") for user in users]
    assert VSCode().detect(here.here) == str(users[0])


def test_the_server_runs_in_the_folder_that_is_open(here):
    here.install(VSCode(), "project")

    told = json.loads((here.folder / "project" / ".vscode" / "mcp.json").read_text())
    entry = told["servers"]["triseek"]

    assert (entry["type"], entry["cwd"]) == ("stdio", "${workspaceFolder}")
