"""VS Code's files."""

from __future__ import annotations

import pytest

from tests.harness import installing
from tests.harness.installing import Place
from triseek.harness.vscode import VSCode


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def test_every_edition_that_is_there_gets_the_server(place):
    users = [place.home / ".config" / name / "User" for name in ("Code", "Code - Insiders")]
    for user in users:
        user.mkdir(parents=True)

    changed = [change.path for change in place.install("vscode")]

    assert changed == [str(user / "mcp.json") for user in users]
    assert VSCode().detect(place.here) == str(users[0])


def test_the_server_runs_in_the_folder_that_is_open(place):
    place.install("vscode", "project")

    entry = installing.value(place.cwd / ".vscode" / "mcp.json")["servers"]["triseek"]

    assert (entry["type"], entry["cwd"]) == ("stdio", "${workspaceFolder}")
