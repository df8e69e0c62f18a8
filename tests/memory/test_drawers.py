from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest

from triseek.errors import InvalidRequest
from triseek.memory import drawers, palaces
from triseek.memory.drawers import Draft

if TYPE_CHECKING:
    from triseek.store.sqlite import Database

TOKENS = Draft(
    text="The API gateway validates JWT tokens using RS256.",
    room="Backend",
    tags=["auth", "jwt", 7, "auth", "api-gateway"],
)


def test_a_drawer_is_kept_as_it_was_written(database: Database, palace: int) -> None:
    with database.write() as connection:
        written = drawers.add(connection, palace, TOKENS, 1_000)
        [read] = drawers.listed(connection, palace)
    assert read == written
    assert (read.text, read.importance, read.created_ms) == (TOKENS.text, 0.5, 1_000)
    assert read.tags == ("auth", "jwt", "api-gateway")
    assert str(uuid.UUID(read.uuid)) == read.uuid


def test_secrets_and_private_passages_are_not_kept(database: Database, palace: int) -> None:
    secret = "AKIA" + "IOSFODNN7" + "EXAMPLE"
    draft = Draft(text=f"key {secret} <private>rate 7</private> here", tags=[secret], room=secret)
    with database.write() as connection:
        kept = drawers.add(connection, palace, draft, 1)
    assert secret not in repr(kept)
    assert "rate 7" not in kept.text
    assert secret.encode() not in database.path.read_bytes()


def test_rooms_are_the_same_in_any_case_of_their_letters(database: Database, palace: int) -> None:
    with database.write() as connection:
        for room in ("backend", "BACKEND", "Backend", "My Room", "my room", ""):
            drawers.add(connection, palace, Draft(text="text", room=room), 1)
        rooms = [drawer.room for drawer in drawers.listed(connection, palace)]
        assert rooms == ["Backend", "Backend", "Backend", "My Room", "my room", "General"]
        assert len(drawers.listed(connection, palace, room="bacKend")) == 3
        assert len(drawers.listed(connection, palace, room="MY ROOM")) == 2


def test_lists_are_by_importance_then_in_the_order_of_writing(
    database: Database, palace: int
) -> None:
    with database.write() as connection:
        other = palaces.create(connection, "other", "", 1)[0]
        drawers.add(connection, other, Draft(text="elsewhere"), 1)
        for at, (text, importance) in enumerate([("a", 0.2), ("b", 7.0), ("c", 0.2), ("d", 0.9)]):
            draft = Draft(text=text, importance=importance, tags=["t"] if text in "bc" else [])
            drawers.add(connection, palace, draft, at)
        assert [one.text for one in drawers.listed(connection, palace)] == ["b", "d", "a", "c"]
        assert drawers.listed(connection, palace)[0].importance == 1.0
        assert [one.text for one in drawers.listed(connection, palace, tag="t")] == ["b", "c"]
        assert [one.text for one in drawers.listed(connection, palace, since_ms=2)] == ["d", "c"]
        assert [one.text for one in drawers.listed(connection, palace, limit=1)] == ["b"]
        assert drawers.listed(connection, palace, limit=-3) == []


def test_an_update_keeps_the_text_before_and_drops_the_vector(
    database: Database, palace: int
) -> None:
    with database.write() as connection:
        written = drawers.add(connection, palace, TOKENS, 1)
        connection.execute("UPDATE drawers SET embedder = 'e', vector = x'00'")
        changed = drawers.update(connection, palace, written.uuid, "They use ES256 now.", 9)
        assert (changed.text, changed.updated_ms, changed.tags) == (
            "They use ES256 now.", 9, written.tags,
        )  # fmt: skip
        before = connection.execute("SELECT text, changed_at_epoch FROM drawer_changes").fetchall()
        assert before == [(TOKENS.text, 9)]
        assert connection.execute("SELECT vector FROM drawers").fetchone() == (None,)
        matches = "SELECT count(*) FROM drawers_fts WHERE drawers_fts MATCH ?"
        assert connection.execute(matches, ("RS256",)).fetchone() == (0,)
        assert connection.execute(matches, ("ES256",)).fetchone() == (1,)


def test_what_was_forgotten_can_be_brought_back_until_it_is_purged(
    database: Database, palace: int
) -> None:
    with database.write() as connection:
        kept = drawers.add(connection, palace, TOKENS, 1)
        assert drawers.forget(connection, palace, kept.uuid.upper(), 100)
        assert not drawers.forget(connection, palace, kept.uuid, 101)
        assert drawers.listed(connection, palace) == []
        assert drawers.restore(connection, palace, kept.uuid)
        assert drawers.listed(connection, palace) == [kept]
        drawers.forget(connection, palace, kept.uuid, 100)
        assert drawers.purge(connection, 100) == 0
        assert drawers.purge(connection, 101) == 1
        assert not drawers.restore(connection, palace, kept.uuid)


def test_a_drawer_of_another_palace_is_out_of_reach(database: Database, palace: int) -> None:
    with database.write() as connection:
        other = palaces.create(connection, "other", "", 1)[0]
        kept = drawers.add(connection, palace, TOKENS, 1)
        assert not drawers.forget(connection, other, kept.uuid, 2)
        with pytest.raises(InvalidRequest, match="no drawer"):
            drawers.update(connection, other, kept.uuid, "x", 2)


@pytest.mark.parametrize(
    ("draft", "reason"),
    [
        (Draft(text=" \n"), "empty"),
        (Draft(text="x" * 100_001), "100,001 characters"),
        (Draft(text="x", room="a\nb"), "control characters"),
        (Draft(text="x", room="r" * 201), "at most 200"),
        (Draft(text="x", tags=[str(one) for one in range(51)]), "at most 50 tags"),
        (Draft(text="x", importance=float("nan")), "not a number"),
    ],
)
def test_bad_drawers_are_refused_and_nothing_is_written(
    database: Database, palace: int, draft: Draft, reason: str
) -> None:
    with pytest.raises(InvalidRequest, match=reason), database.write() as connection:
        drawers.add(connection, palace, draft, 1)
    with database.read() as connection:
        assert drawers.listed(connection, palace) == []


@pytest.mark.parametrize("name", ["", "x", "../x", "a3f1c2d4-...", "9" * 10_000])
def test_what_is_no_uuid_is_refused(database: Database, palace: int, name: str) -> None:
    with database.write() as connection, pytest.raises(InvalidRequest, match="UUID"):
        drawers.forget(connection, palace, name, 1)


def test_a_filter_that_no_tag_can_be_is_refused(database: Database, palace: int) -> None:
    for tag in ("\ud800", "a\nb", "x" * 1_000):
        with database.read() as connection, pytest.raises(InvalidRequest, match="the tag"):
            drawers.listed(connection, palace, tag=tag)
