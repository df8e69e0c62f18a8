from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from triseek.errors import InvalidRequest
from triseek.memory import drawers, graph, palaces
from triseek.memory.drawers import Draft
from triseek.memory.service import Memory

if TYPE_CHECKING:
    from pathlib import Path

    from triseek.store.sqlite import Database


def test_a_palace_that_exists_keeps_what_it_has(database: Database) -> None:
    with database.write() as connection:
        first, is_new = palaces.create(connection, "client-acme", "For Acme", 5)
        assert is_new
        drawers.add(connection, first, Draft(text="Invoices are due in May."), 6)
        assert palaces.create(connection, "client-acme", "", 9) == (first, False)
        info = palaces.info(connection, "client-acme")
    assert (info.description, info.created_ms, info.drawers) == ("For Acme", 5, 1)


def test_palaces_are_counted_and_listed(database: Database, palace: int) -> None:
    with database.write() as connection:
        palaces.create(connection, "agent-pm", "", 2)
        kept = drawers.add(connection, palace, Draft(text="one"), 3)
        drawers.add(connection, palace, Draft(text="two"), 3)
        drawers.forget(connection, palace, kept.uuid, 4)
        for version in ("2.4.0", "2.4.1"):
            graph.assert_fact(connection, palace, ("auth", "version", version), 5)
        info = palaces.info(connection, "my-project")
        assert palaces.listed(connection) == ["agent-pm", "my-project"]
    assert (info.drawers, info.triples) == (1, 1)


def test_an_identity_is_kept_without_secrets(database: Database, palace: int) -> None:
    with database.write() as connection:
        palaces.set_identity(connection, "my-project", "A shop. <private>margins</private>")
        assert "margins" not in palaces.info(connection, "my-project").identity
        with pytest.raises(InvalidRequest, match="at most 4,000"):
            palaces.set_identity(connection, "my-project", "x" * 4_001)


def test_a_palace_is_deleted_with_all_that_is_in_it(database: Database, palace: int) -> None:
    with database.write() as connection:
        drawers.add(connection, palace, Draft(text="quetzal", tags=["a"]), 1)
        graph.assert_fact(connection, palace, ("a", "b", "c"), 1)
        assert palaces.delete(connection, "my-project") == 1
        for table in ("palaces", "drawers", "drawer_tags", "triples"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
        query = "SELECT count(*) FROM drawers_fts WHERE drawers_fts MATCH 'quetzal'"
        assert connection.execute(query).fetchone() == (0,)


@pytest.mark.parametrize(
    "name",
    ["", " ", ".", "..", "../x", "/abs", "a/b", "a\\b", "a..b", "x\n", "\0", "\x1b[31m", "-rf",
     "x" * 101, "a" * 10_000_000, "ends.", " begins"],
)  # fmt: skip
def test_what_is_no_name_is_refused_in_one_line(database: Database, name: str) -> None:
    with database.write() as connection, pytest.raises(InvalidRequest) as refused:
        palaces.create(connection, name, "", 1)
    assert "\n" not in refused.value.message
    assert len(refused.value.message) < 300


def test_an_unknown_palace_is_named(database: Database) -> None:
    with database.read() as connection, pytest.raises(InvalidRequest, match="no palace 'gone'"):
        palaces.id_of(connection, "gone")


@pytest.mark.parametrize(
    ("root", "name"),
    [("/src/api", "api"), ("/src/.config", "config"), ("/", "project"), ("/src/a b:c", "a-b-c")],
)
def test_a_project_folder_names_its_palace(tmp_path: Path, root: str, name: str) -> None:
    memory = Memory(str(tmp_path))
    assert memory.palace_of(root) == ""
    assert memory.palace_of(root, creates=True) == name
    assert memory.palace_of(root, creates=True) == name
    assert memory.palace_of(root) == name


def test_folders_of_the_same_name_have_palaces_of_their_own(tmp_path: Path) -> None:
    memory = Memory(str(tmp_path))
    memory.create("api")
    assert memory.palace_of("/one/api", creates=True) == "api-2"
    assert memory.palace_of("/two/api", creates=True) == "api-3"


def test_half_a_surrogate_pair_in_a_description_is_replaced(database: Database) -> None:
    with database.write() as connection:
        palaces.create(connection, "shop", "tea \ud800", 1)
        palaces.set_identity(connection, "shop", "\udcff a shop\0")
        info = palaces.info(connection, "shop")
    assert (info.description, info.identity) == ("tea ?", "? a shop\ufffd")
