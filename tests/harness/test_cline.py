"""Cline's files: the program has one, and each editor's extension."""

from __future__ import annotations

import pytest

from tests.harness.installing import Place

OWN = (".cline", "data", "settings", "cline_mcp_settings.json")


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def stored(place, edition):
    folder = place.home / ".config" / edition / "User" / "globalStorage" / "saoudrizwan.claude-dev"
    folder.mkdir(parents=True)
    return str(folder / "settings" / "cline_mcp_settings.json")


def written(place):
    return [change.path for change in place.install("cline")]


def test_every_extension_that_is_there_gets_it(place):
    stores = [stored(place, "Code"), stored(place, "VSCodium")]

    assert written(place) == stores


def test_so_does_the_program_if_it_is_there_too(place):
    store = stored(place, "Code - Insiders")
    (place.home / ".cline").mkdir()

    assert written(place) == [str(place.home.joinpath(*OWN)), store]


def test_with_neither_it_is_the_programs(place):
    assert written(place) == [str(place.home.joinpath(*OWN))]


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
    place = Place(tmp_path, **{variable: str(named)})

    assert written(place) == [str(named.joinpath(*below))]
