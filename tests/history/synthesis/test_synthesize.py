"""Deriving is idempotent, and touches only what it derived."""

from __future__ import annotations

import json

import pytest

from tests.history import outputs
from tests.history.recorded import Recorded
from triseek.history.synthesis.summary import request_of
from triseek.history.synthesis.synthesize import synthesize, synthesize_pending

COLUMNS = "id, row_hash, type, rule, title, facts, evidence, is_dead_end, prompt_number"
OLD = "def total(items, rate):\n    return sum(items)\n"
NEW = "def total(items, rate):\n    return sum(items) * rate\n"


def rows(database, columns=COLUMNS, where="1"):
    with database.read() as connection:
        return connection.execute(
            f"SELECT {columns} FROM observations WHERE {where} ORDER BY id"
        ).fetchall()


def fixed(database, key="s1") -> Recorded:
    session = Recorded(database, key).prompt("Make the discount work. It does not.")
    session.run("cd /work/shop && pytest -q 2>&1 | tail -30", outputs.PYTEST_FAILED)
    session.edit("shop/cart.py", OLD, NEW)
    return session.run("cd /work/shop && pytest -q 2>&1 | tail -30", outputs.PYTEST_PASSED)


def test_twice_gives_the_same_rows_and_ids(database):
    session = fixed(database).run("git commit -m 'fix: discount'", "[main 1a2b3c4] fix: discount\n")
    count = synthesize(database, session.id)
    before, summary = rows(database), _summaries(database)
    assert synthesize(database, session.id) == count == len(before) == 2
    assert rows(database) == before
    assert _summaries(database) == summary


def test_more_events_keep_the_rows_that_still_hold(database):
    session = fixed(database)
    synthesize(database, session.id)
    before = rows(database)
    session.prompt("more").write("shop/tax.py", "def tax(x):\n    return x\n")
    synthesize(database, session.id)
    assert rows(database)[: len(before)] == before
    assert len(rows(database)) == len(before) + 1


def test_rows_whose_events_are_gone_are_removed_and_others_stay(database):
    session = fixed(database)
    synthesize(database, session.id)
    with database.write() as connection:
        connection.execute(
            "INSERT INTO observations (session_id, type, origin, row_hash) VALUES"
            " (?, 'change', 'explicit', 'x'), (?, 'change', 'import', 'y'),"
            " (?, 'change', 'rule', 'z')",
            (session.id,) * 3,
        )
        connection.execute("UPDATE observations SET pinned = 1 WHERE rule = 'fixed-check'")
        connection.execute("DELETE FROM tool_events")
    assert synthesize(database, session.id) == 0
    assert rows(database, "row_hash", "rule = ''") == [("x",), ("y",)]
    assert len(rows(database, where="pinned = 1")) == 1


def test_a_rule_that_says_more_updates_the_row_in_place(database):
    session = fixed(database)
    synthesize(database, session.id)
    before = rows(database)
    with database.write() as connection:
        connection.execute("UPDATE observations SET title = 'an older text'")
    synthesize(database, session.id)
    assert rows(database) == before


def test_full_text_search_finds_what_was_derived_and_not_what_was_removed(database):
    session = fixed(database)
    synthesize(database, session.id)
    query = "SELECT count(*) FROM observations_fts WHERE observations_fts MATCH ?"
    with database.read() as connection:
        assert connection.execute(query, ("cart",)).fetchone() == (1,)
    with database.write() as connection:
        connection.execute("DELETE FROM tool_events")
    synthesize(database, session.id)
    with database.read() as connection:
        assert connection.execute(query, ("cart",)).fetchone() == (0,)


def test_errors_and_programs_of_events_are_set(database):
    session = fixed(database)
    synthesize(database, session.id)
    with database.read() as connection:
        keys = connection.execute("SELECT error_key FROM tool_events WHERE command != ''")
        assert [row[0] for row in keys] == [
            "AssertionError: assert N == N @ tests/test_cart.py",
            "",
        ]
        programs = connection.execute("SELECT DISTINCT program FROM event_programs").fetchall()
        assert programs == [("pytest",)]


def test_pending_sessions_are_derived_once(database):
    first, second = fixed(database, "a"), fixed(database, "b")
    assert list(synthesize_pending(database)) == [first.id, second.id]
    assert list(synthesize_pending(database)) == []


def test_evidence_names_the_events_and_marks_the_text(database):
    session = fixed(database)
    synthesize(database, session.id)
    ((evidence,),) = rows(database, "evidence", "rule = 'fixed-check'")
    fields = json.loads(evidence)
    assert fields["events"] == ["e2", "e3", "e4"]
    assert fields["files"][0]["path"] == "shop/cart.py"
    assert fields["files"][0]["symbols"] == ["total"]
    with database.read() as connection:
        files = connection.execute("SELECT path, role, sha != '' FROM observation_files").fetchall()
    assert files == [("shop/cart.py", "modified", 1)]


def test_a_session_that_is_not_there_is_nothing(database):
    assert synthesize(database, 99) == 0


def test_the_database_stays_whole(database):
    session = fixed(database)
    synthesize(database, session.id)
    with database.write() as connection:
        connection.execute("DELETE FROM sessions")
    assert database.check() == []


def test_there_is_one_summary_of_each_session(database):
    session = fixed(database)
    synthesize(database, session.id)
    session.run("pytest tests/test_tax.py", outputs.PYTEST_FAILED.replace("cart", "tax"), 1)
    session.tool("TodoWrite", todos=[{"content": "write the docs", "status": "pending"}])
    session.edit("shop/cart.py", "x", "# TODO: round\nx")
    synthesize(database, session.id)
    ((request, completed, next_steps),) = _summaries(database)
    assert request == "Make the discount work."
    assert completed.startswith("Fixed tests/test_cart.py::test_discount in shop/cart.py:total")
    assert "still fails: pytest tests/test_tax.py: AssertionError: assert 30 == 15" in next_steps
    assert "to do: write the docs" in next_steps
    assert "open: TODO: round" in next_steps


def test_a_session_that_only_talked_has_no_summary(database):
    session = Recorded(database).prompt("What is 2 + 2?").answer("4.")
    assert synthesize(database, session.id) == 0
    assert _summaries(database) == []


def _summaries(database):
    with database.read() as connection:
        return connection.execute(
            "SELECT request, completed, next_steps FROM session_summaries"
        ).fetchall()


@pytest.mark.parametrize(
    ("prompt", "request_"),
    [
        ("Make it work. Please.", "Make it work."),
        ("... do we copy this? Look.", "... do we copy this?"),
        ("Implement the following plan:\n\n# Keep the cache\n\nIt is lost.",
         "Implement the following plan: # Keep the cache"),
        ("...", "..."), ("Only this:", "Only this:"), ("", ""),
    ],
)  # fmt: skip
def test_a_request_says_what_is_asked_for(prompt, request_):
    assert request_of(prompt) == request_
