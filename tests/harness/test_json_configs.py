"""Clients whose configs are JSON: what is put in comes out again, and the rest stays."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tests.harness import installing
from tests.harness.installing import Place


class Client(NamedTuple):
    """A client's config for a person."""

    name: str
    path: tuple[str, ...]
    servers: str
    entry: dict[str, object]
    """What it has to say of us, at least."""
    unread: tuple[str, ...] = ()
    """The kinds of configs that the client itself does not read."""


STARTS = {"command": installing.PROGRAM, "args": ["mcp", "serve"]}
CLIENTS = [
    Client(
        "opencode",
        (".config", "opencode", "opencode.json"),
        "mcp",
        {"type": "local", "command": [installing.PROGRAM, "mcp", "serve"]},
    ),
    Client("pi", (".pi", "agent", "mcp.json"), "mcpServers", STARTS, tuple(installing.COMMENTED)),
    Client(
        "cline",
        (".cline", "data", "settings", "cline_mcp_settings.json"),
        "mcpServers",
        STARTS,
        (*installing.COMMENTED, "bom"),
    ),
    Client(
        "gemini",
        (".gemini", "settings.json"),
        "mcpServers",
        STARTS,
        ("trailing commas", "bom"),
    ),
    Client("vscode", (".config", "Code", "User", "mcp.json"), "servers", STARTS),
    Client("zed", (".config", "zed", "settings.json"), "context_servers", STARTS),
]
each_client = pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
each_with_projects = pytest.mark.parametrize(
    "client", [one for one in CLIENTS if one.name != "cline"], ids=lambda client: client.name
)


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


@each_client
@pytest.mark.parametrize("kind", [*installing.STRICT, *installing.COMMENTED, *installing.BROKEN])
def test_a_config_says_us_and_then_what_it_said_before(place, client, kind):
    path = place.home.joinpath(*client.path)
    place.write(path, installing.config(kind, client.servers, client.entry))

    if kind in client.unread or kind in installing.BROKEN:
        installing.is_refused(place, client.name, path)
    else:
        installing.comes_and_goes(place, client.name, path)


@each_client
def test_a_link_stays_a_link(place, client):
    installing.behind_links(place, client.name, place.home.joinpath(*client.path))


@each_client
def test_the_entry_starts_the_server(place, client):
    place.install(client.name)

    entry = installing.value(place.home.joinpath(*client.path))[client.servers]["triseek"]

    assert client.entry.items() <= entry.items()


@each_client
def test_what_others_add_meanwhile_stays(place, client):
    path = place.home.joinpath(*client.path)

    installing.stays_with_additions(place, client.name, path, client.servers)


@each_client
def test_somebody_elses_entry_of_our_name_stays(place, client):
    path = place.home.joinpath(*client.path)

    installing.refuses_a_foreign_triseek(place, client.name, path, client.servers)


@each_client
def test_an_older_entry_is_replaced(place, client):
    path = place.home.joinpath(*client.path)
    old = {"command": "/old/bin/triseek", "args": ["mcp", "serve", "--repo", "."]}

    installing.replaces_an_older_entry(place, client.name, path, client.servers, old)


@each_with_projects
def test_a_project_has_files_of_its_own(place, client):
    changed = [change.path for change in place.install(client.name, "project")]

    assert changed
    assert all(path.startswith(place.here.cwd) for path in changed)
    place.uninstall(client.name, "project")
    assert not any(place.everything())


@each_with_projects
def test_a_person_and_a_project_do_not_get_in_each_others_way(place, client):
    place.install(client.name)
    alone = place.everything()
    place.install(client.name, "project")

    place.uninstall(client.name, "project")

    assert place.everything() == alone
