"""The recall engine on real databases. What the index says, reading everything says too."""

import contextlib

import pytest

from tests.recall.sessions import DAY, START, add, fill, found
from triseek.history import message_source
from triseek.history.database import open_database
from triseek.history.message_source import MessageSource
from triseek.kernels import cache
from triseek.recall import engine, index, segment_writer
from triseek.recall.engine import Recall


def test_a_message_is_found_with_its_excerpt(recall, database):
    add(database, 1, "We talked about birds.")
    [_, second] = add(database, 2, "Hello.", "The migration of the database failed: a lock.")
    assert recall.update() == 3
    [hit] = recall.search("why did the database migrations fail?", by="session", limit=5).hits
    assert (hit.session_id, hit.message_id) == (2, second)
    assert 0 < hit.score <= 1
    assert hit.span == (0, 45)


@pytest.mark.parametrize("sessions", [None, range(1, 50, 3)])
@pytest.mark.parametrize("by", ["session", "message"])
def test_the_index_answers_as_reading_everything_does(recall, database, monkeypatch, by, sessions):
    monkeypatch.setattr(index, "BATCH_TOKENS", 200)
    monkeypatch.setattr(engine, "RESIDENT_MAX", 1)
    monkeypatch.setattr(segment_writer, "POSTINGS_AT_ONCE", 50)  # several rounds
    monkeypatch.setattr(segment_writer, "PIECE", 30)
    fill(database, 1, range(1, 40))
    recall.update()
    fill(database, 2, range(30, 60))  # ten of them grow
    recall.update()
    assert len(recall.open().segments) > 2
    queries = ["alpha", "develops betaing in june", "gammax1 delta alphas", "2023", "nowhere"]
    for query in queries:
        indexed = recall.search(query, by=by, limit=500, sessions=sessions)
        with monkeypatch.context() as patch:
            patch.setattr(cache, "is_ready", lambda: False)
            read = recall.search(query, by=by, limit=500, sessions=sessions)
        assert [hit.message_id for hit in indexed.hits] == [hit.message_id for hit in read.hits]
        assert [hit.score for hit in indexed.hits] == pytest.approx(
            [hit.score for hit in read.hits], abs=1e-5
        )
        assert [hit.span for hit in indexed.hits] == [hit.span for hit in read.hits]
        assert indexed.total == read.total == len(indexed.hits)


@pytest.mark.parametrize("by", ["session", "message"])
def test_words_weigh_as_among_the_sessions_searched(tmp_path, recall, database, by):
    fill(database, 6, range(1, 60))
    add(database, 7, *["alphas developing"] * 9)
    some = range(3, 40, 4)
    with contextlib.closing(open_database(str(tmp_path / "alone"))) as alone:
        for session in some:
            with database.read() as connection:
                rows = connection.execute(
                    "SELECT text, created_at_epoch FROM messages WHERE session_id = ?", (session,)
                ).fetchall()
            add(alone, session, *(text for text, _ in rows), at=rows[0][1])
        single = Recall(str(tmp_path / "single"), MessageSource(alone))
        for one in (recall, single):
            one.update()
        for query in ("alpha betaing", "develop gamma in july"):
            hits = [
                [(hit.session_id, pytest.approx(hit.score)) for hit in page.hits]
                for page in (
                    recall.search(query, by=by, limit=50, sessions=some),
                    single.search(query, by=by, limit=50),
                )
            ]
            assert hits[0] == hits[1]


def test_pages_follow_one_another(recall, database):
    fill(database, 3, range(1, 30))
    recall.update()
    whole = recall.search("alpha beta", by="message", limit=40).hits
    parts = [
        recall.search("alpha beta", by="message", limit=7, offset=at) for at in range(0, 35, 7)
    ]
    assert [hit for page in parts for hit in page.hits] == list(whole[:35])


def test_a_grown_session_is_one_session(recall, database):
    add(database, 1, "alpha")
    recall.update()
    add(database, 1, "zebra")
    assert found(recall, "zebra") == []  # not indexed yet
    recall.update()
    assert found(recall, "zebra") == found(recall, "alpha") == [1]


def test_what_is_gone_from_the_database_is_not_returned(recall, database):
    [first, second] = add(database, 1, "alpha one", "alpha two")
    add(database, 2, "alpha three")
    recall.update()
    with database.write() as connection:
        connection.execute("DELETE FROM messages WHERE id = ?", (first,))
        connection.execute("DELETE FROM sessions WHERE id = 2")
    assert found(recall, "alpha", "message") == [second]
    recall.update()
    page = recall.search("alpha one", by="session", limit=5)
    assert [hit.session_id for hit in page.hits] == [1]
    assert page.total == 1


def test_filters(recall, database):
    add(database, 1, "alpha", at=START)
    add(database, 2, "alpha", at=START + 10 * DAY)
    recall.update()
    assert found(recall, "alpha", sessions={1}) == [1]
    assert found(recall, "alpha", sessions=()) == []
    assert found(recall, "alpha", since_ms=START + DAY) == [2]
    assert recall.search("alpha", by="message", limit=5, since_ms=START + DAY).total == 1


@pytest.mark.parametrize(
    "query", ["", "the", "?!", "\x00", "a" * 100_000, "nosuchword", "alpha " * 999]
)
def test_any_query_is_answered(recall, database, query):
    fill(database, 4, range(1, 5))
    recall.update()
    for by in ("session", "message"):
        page = recall.search(query, by=by, limit=5)
        assert page.total >= len(page.hits)


def test_an_empty_database(recall):
    assert recall.update() == 0
    assert found(recall, "alpha") == []


def test_reading_takes_what_is_wanted_then_what_is_new(recall, database, monkeypatch):
    monkeypatch.setattr(cache, "is_ready", lambda: False)
    monkeypatch.setattr(message_source, "SCANNED_MAX", 4)
    for session in range(1, 6):
        add(database, session, f"alpha one of {session}", "alpha two")
    assert sorted(found(recall, "alpha")) == [4, 5]
    assert found(recall, "alpha", sessions=[2]) == [2]


@pytest.mark.parametrize("by", ["session", "message"])
@pytest.mark.parametrize("is_indexed", [True, False])
def test_a_fork_does_not_repeat_what_it_copied(recall, database, monkeypatch, by, is_indexed):
    monkeypatch.setattr(cache, "is_ready", lambda: is_indexed)
    for session in (9, 4, 5):  # 9 is the conversation, the others are its forks
        add(database, session, "the zebra migration failed", at=START)
    add(database, 5, "zebra again", at=START + DAY)
    with database.write() as connection:
        connection.execute("UPDATE sessions SET parent_external_id = '9' WHERE id != 9")
    add(database, 6, "the zebra migration failed", at=START + DAY)
    recall.update()
    page = recall.search("zebra migration failed", by=by, limit=10)
    [shown] = [hit for hit in page.hits if hit.copies]
    assert (shown.session_id, shown.copies) == (9, 2)
    assert 6 in {hit.session_id for hit in page.hits}
    assert page.total == len(page.hits)


def test_a_message_without_a_time_is_no_copy(recall, database):
    for session in (1, 2):
        add(database, session, "yes, the zebra", at=0)
    recall.update()
    assert len(found(recall, "zebra")) == 2
