"""Cline's files: the program has one, and each editor's extension."""

from __future__ import annotations

import pytest

from tests.agents.places import place
from triseek.agents.cline import Cline

OWN = (".cline", "data", "settings", "cline_mcp_settings.json")


@pytest.fixture
def here(tmp_path):
    return place(tmp_path)


def stored(here, edition):
    user = here.folder / "home" / ".config" / edition / "User"
    folder = user / "globalStorage" / "saoudrizwan.claude-dev"
    folder.mkdir(parents=True)
    return str(folder / "settings" / "cline_mcp_settings.json")


def written(here):
    return [change.path for change in here.install(Cline(), "user")]


def test_every_extension_that_is_there_gets_it(here):
    stores = [stored(here, "Code"), stored(here, "VSCodium")]

    assert written(here) == stores


def test_so_does_the_program_if_it_is_there_too(here):
    store = stored(here, "Code - Insiders")
    (here.folder / "home" / ".cline").mkdir()

    assert written(here) == [here.here.in_home(*OWN), store]


def test_with_neither_it_is_the_programs(here):
    assert written(here) == [here.here.in_home(*OWN)]


@pytest.mark.parametrize(
    ("variable", "below"),
    [
        ("CLINE_MCP_SETTINGS_PATH", ()),
        ("CLINE_DATA_DIR", ("settings", "cline_mcp_settings.json")),
        ("CLINE_DIR", ("data", "settings", "cline_mcp_settings.json")),
    ],
)
def test_the_programs_file_follows_its_variables(tmp_path, variable, below):
    named = tmp_path / "named"
    there = place(tmp_path, **{variable: str(named)})

    assert written(there) == [str(named.joinpath(*below))]
