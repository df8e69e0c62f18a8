"""Saved contexts are restored as they were; damaged ones are not, and raise nothing."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triseek.memo import state
from triseek.model.hook_event import Context

JUNK = st.sampled_from([None, True, -1, 1.5, 1e308, "", "x", [], [[]], [[1, 2]], {}, [{}], 1 << 70])


@settings(derandomize=True, max_examples=100)
@given(st.data())
def test_whatever_is_wrong_in_it_nothing_is_raised(data):
    body = json.loads(json.dumps(SAVED))
    at = body
    while isinstance(at, dict | list) and at:
        key = data.draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
        if not isinstance(at[key], dict | list) or not at[key] or data.draw(st.booleans()):
            at[key] = data.draw(JUNK)
            break
        at = at[key]

    assert all(isinstance(one.context, Context) for one in state.load(body, 1_000.0))


SAVED = {
    "schema": 1,
    "saved_s": 1000.0,
    "closed": True,
    "contexts": [
        {
            "harness": "codex",
            "session": "s",
            "agent": "",
            "active_s": 1000.0,
            "passed": 10,
            "uses": 2,
            "forgot_s": 0.0,
            "emptied_passed": 0,
            "tells": False,
            "roots": [["/r", 1000.0]],
            "total_reads": 1,
            "redundant_reads": 0,
            "prevented": 1,
            "tokens_saved": 5,
            "compactions": 0,
            "files": [
                {
                    "path": "/r/a",
                    "digest": "0" * 32,
                    "lines": 5,
                    "tokens": 20,
                    "reads": 1,
                    "read_s": 999.0,
                    "credits": [[[[1, 5]], "c", 999.0, 10, 1, False]],
                    "denied": [[[[1, 5]], 5, 999.5, True]],
                }
            ],
        }
    ],
}


def test_the_saved_form_is_what_it_was():
    [one] = state.load(SAVED, 1000.0)

    assert one.files["/r/a"].shown == ((1, 5),)
    assert json.loads(json.dumps(state.dump([one], 1000.0, closed=True))) == SAVED


@pytest.mark.parametrize("credit", [None, [[], "c", 999.0, 10, 1, False]])
def test_a_payload_that_was_given_is_kept(credit):
    quoted = [["/r/a", "0" * 64, [[1, 5]]]]
    given = {"snapshot_id": "snap_1", "quoted": quoted, "credit": credit, "stamp": [1, 2]}
    body = {**SAVED, "contexts": [{**SAVED["contexts"][0], "given": given}]}
    [one] = state.load(body, 1000.0)

    assert json.loads(json.dumps(state.dump([one], 1000.0, closed=True))) == body
    [later] = state.load(body, 1000.0 + state.GAP_S + 1)
    assert (later.given is None) == (credit is None)
    assert later.given is None or later.given.credit.gap
    for junk in (5, {}, {**given, "quoted": [5]}, {**given, "credit": "no"}):
        damaged = {**SAVED, "contexts": [{**SAVED["contexts"][0], "given": junk}]}
        assert state.load(damaged, 1000.0) == []
