"""What every answer has in common: previews, paths, backends, errors."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from triseek import errors
from triseek.errors import Cancelled, OutOfTime
from triseek.model import budget
from triseek.model.call import Call
from triseek.model.search import Route
from triseek.search import envelopes
from triseek.search.envelopes import (
    CONTRACT,
    PREVIEW_MAX,
    failure,
    preview,
    printable,
    routed,
    shown,
)

KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type)]


def test_a_short_line_is_shown_without_its_end():
    assert preview(b"  int x;\t\r\n") == "  int x;\t"


@given(st.text(), st.integers(0, 600))
@example("x" * 200, 1)
@example("x" * 201, 201)
@example("ü" * 300, 599)
def test_a_preview_is_no_longer_than_the_contract_has_it_and_shows_what_was_found(text, column):
    line = text.replace("\n", "").replace("\r", "").encode()
    column = min(column, len(line))
    told = preview(line, column)

    assert len(told) <= PREVIEW_MAX
    if len(line.decode()) <= PREVIEW_MAX:
        assert told == line.decode()
    else:
        at = len(line[: max(0, column - 1)].decode(errors="replace"))
        found = line.decode()[at : at + 20]
        assert found in told


def test_what_is_cut_off_is_marked_at_both_ends():
    line = b"a" * 500 + b"needle" + b"b" * 500
    told = preview(line, 501)

    assert (told[0], told[-1], len(told)) == ("…", "…", PREVIEW_MAX)
    assert "needle" in told


def test_bytes_that_are_no_text_are_shown_as_such():
    assert preview(b"a\xffb") == "a\ufffdb"
    assert shown(b"\xff.c") == "\ufffd.c"
    assert printable("/x/\udcff") == "/x/\ufffd"


@pytest.mark.parametrize(
    ("backend", "strategy", "fallback", "cache"),
    [
        ("indexed", "triseek_indexed", False, "miss"),
        ("direct_scan", "triseek_direct_scan", True, "bypass"),
        ("ripgrep", "ripgrep_fallback", True, "bypass"),
    ],
)
def test_a_backend_has_the_contracts_name(backend, strategy, fallback, cache):
    assert routed(Route(backend=backend, reason="no_index")) == {
        "strategy": strategy, "fallback_used": fallback, "routing_reason": "no_index",
        "cache": cache,
    }  # fmt: skip


def test_a_backend_that_failed_is_told():
    told = routed(Route(backend="ripgrep", reason="x", fell_back="gone"), force_refreshed=True)

    assert (told["fell_back"], told["force_refreshed"]) == ("gone", True)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_error_has_one_of_the_contracts_codes_and_a_next_step(kind):
    told = failure(kind("what is wrong"))

    assert told["version"] == "1"
    assert set(told["error"]) == {"code", "message", "retryable", "suggested_action"}
    assert told["error"]["code"] in CONTRACT
    assert told["error"]["message"] == "what is wrong"
    assert told["error"]["retryable"] is kind.retryable
    assert told["error"]["suggested_action"]


def test_a_mistake_in_a_query_has_the_next_step_for_it_where_there_is_one():
    known = errors.InvalidQuery("it spans lines", next_step="Pass multiline.")

    assert failure(known)["error"]["suggested_action"] == "Pass multiline."
    assert "-F" not in failure(errors.InvalidQuery("no"))["error"]["suggested_action"]


def test_the_contracts_example_of_an_error():
    told = failure(errors.IndexUnavailable("TriSeek index is unavailable for this repository"))

    assert told == {
        "version": "1",
        "error": {
            "code": "INDEX_UNAVAILABLE",
            "message": "TriSeek index is unavailable for this repository",
            "retryable": True,
            "suggested_action": "Call the `reindex` tool or run `triseek build <PATH>`",
        },
    }


def test_a_search_stops_with_the_time_or_with_whoever_waits(monkeypatch):
    with envelopes.limited(Call()) as stop:
        assert stop() is False
    monkeypatch.setattr(envelopes, "DEADLINE_S", -1.0)
    with envelopes.limited(Call()) as stop:
        assert stop() is True
    with envelopes.limited(Call(cancelled=lambda: True)) as stop, pytest.raises(Cancelled):
        stop()


def test_whatever_asks_for_the_budget_is_stopped_likewise(monkeypatch):
    with envelopes.limited(Call()):
        budget.check()
    with pytest.raises(Cancelled), envelopes.limited(Call(cancelled=lambda: True)):
        budget.check()
    monkeypatch.setattr(envelopes, "DEADLINE_S", -100.0)
    with pytest.raises(OutOfTime), envelopes.limited(Call()):
        budget.check()
