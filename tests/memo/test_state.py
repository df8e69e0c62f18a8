"""The memo outlives its process; saved contexts are restored as they were.

Nothing that is damaged is believed, and it raises nothing.
"""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.memo.memo_agents import CODE
from triseek.memo import state
from triseek.memo.context import SURE_S
from triseek.memo.memo import Memo
from triseek.memo.table import IDLE_S
from triseek.model.hook_event import Context
from triseek.store import atomic

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


@pytest.fixture
def restart(folder, clock):
    def again(agent, *, after_s=0.0, closed=True):
        if closed:
            agent.memo.close()
        else:
            agent.memo.save()
        clock.now_s += after_s
        agent.memo = Memo(folder, clock)

    return again


def announced(agent):
    """Ask as an agent with hooks does: its call is told of before."""
    agent.memo.asking(agent.context, "call", agent.in_view)
    return agent.check(call="call")["status"]


def test_what_was_read_is_known_after_a_restart(agent, restart):
    agent.reads("a.py", last=200)
    agent.reads("b.py")
    agent.reads("b.py")
    before = agent.session()
    restart(agent)
    agent.memo.begin(agent.root, agent.context, agent.in_view)

    assert agent.session() == before
    assert agent.reads("a.py", first=50, last=200)
    assert announced(agent) == "unknown"
    agent.reads("a.py", first=200)
    assert announced(agent) == "fresh"


def test_files_that_changed_meanwhile_are_stale(agent, restart):
    agent.reads("a.py")
    restart(agent)
    Path(agent.root, "a.py").write_text(CODE.replace("compute(200)", "compute(0)"))
    agent.memo.begin(agent.root, agent.context, agent.in_view)

    assert agent.check()["recommendation"] == "reread_with_diff"


@pytest.mark.parametrize("closed", [True, False])
def test_no_read_is_denied_twice_in_a_row_across_a_restart(agent, restart, closed):
    agent.reads("a.py")
    assert agent.reads("a.py")
    restart(agent, closed=closed)

    assert agent.reads("a.py") is None
    assert agent.reads("a.py")


def test_after_a_kill_the_next_read_goes_through(agent, folder, clock):
    agent.reads("a.py")
    agent.memo.save()
    assert agent.reads("a.py")  # and is not saved any more
    agent.memo = Memo(folder, clock)

    assert agent.reads("a.py") is None
    assert agent.reads("a.py")
    assert agent.session()["redundant_reads_prevented"] == 1


def test_after_a_kill_no_saving_is_counted_that_may_have_been_taken_back(agent, folder, clock):
    agent.reads("a.py")
    assert agent.reads("a.py")
    agent.memo.save()
    assert agent.session()["tokens_saved"] > 0
    assert agent.reads("a.py") is None  # and is not saved any more
    assert agent.session()["tokens_saved"] == 0
    agent.memo = Memo(folder, clock)

    said = agent.session()
    assert (said["tokens_saved"], said["redundant_reads_prevented"]) == (0, 0)


def test_a_memo_that_was_closed_and_taken_up_counts_as_killed_if_it_is_not_closed(
    agent, restart, folder, clock
):
    agent.reads("a.py")
    restart(agent)
    assert agent.reads("a.py")
    agent.memo = Memo(folder, clock)

    assert agent.reads("a.py") is None


def test_after_a_gap_only_the_agents_own_record_is_believed(agent, restart):
    agent.memo.observe(agent.root, agent.context, agent.use("a.py", output=CODE, call="c"))
    agent.view.add("c")
    assert agent.check()["status"] == "fresh"
    restart(agent, after_s=state.GAP_S)
    assert agent.check()["status"] == "fresh"

    restart(agent, after_s=state.GAP_S + 1)
    assert agent.check()["status"] == "unknown"
    assert announced(agent) == "fresh"
    restart(agent)
    assert agent.check()["status"] == "unknown"


def test_a_day_later_nothing_is_left(agent, restart, folder):
    agent.reads("a.py")
    restart(agent, after_s=IDLE_S + 1)

    assert agent.session()["total_reads"] == 0
    assert list((Path(folder) / "kept").iterdir()) == []


def test_what_is_too_old_by_then_is_not_fresh(agent, restart):
    agent.reads("a.py")
    restart(agent, after_s=SURE_S)

    assert announced(agent) == "unknown"


def test_only_the_user_may_read_it(agent, folder):
    agent.reads("a.py")
    agent.memo.save()
    modes = {
        path.relative_to(folder).name: stat.S_IMODE(path.stat().st_mode)
        for path in Path(folder).rglob("*")
    }

    assert stat.S_IMODE(Path(folder).stat().st_mode) == modes.pop("kept") == 0o700
    assert len(modes) == 2
    assert set(modes.values()) == {0o600}


def test_nothing_is_written_when_nothing_changed(agent, folder):
    agent.reads("a.py")
    agent.memo.save()
    (Path(folder) / "memo.json").unlink()
    agent.memo.save()

    assert not (Path(folder) / "memo.json").exists()


def test_without_a_folder_nothing_is_written(tmp_path, another, clock):
    before = list(tmp_path.rglob("*"))
    agent = replace(another(), memo=Memo(None, clock))
    agent.reads("a.py")
    agent.memo.forget(agent.context)
    agent.reads("a.py")
    agent.memo.save()
    agent.memo.close()

    assert agent.check()["status"] == "fresh"
    assert list(tmp_path.rglob("*")) == before


def test_what_cannot_be_written_is_not_raised(another, clock, tmp_path):
    (tmp_path / "file").write_text("in the way")
    agent = replace(another(), memo=Memo(str(tmp_path / "file" / "memo"), clock))
    agent.reads("a.py")
    agent.memo.close()
    agent.memo.forget(agent.context)

    assert agent.memo.erase() == 1


def body_of(agent, folder):
    agent.reads("a.py")
    agent.reads("a.py")
    agent.memo.close()
    return atomic.read_sealed(Path(folder) / "memo.json", most_bytes=state.MOST_BYTES)


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"\0" * 100, b'{"xxh3":"","body":{}}'])
def test_a_damaged_file_is_an_empty_memo(agent, folder, clock, damage):
    body_of(agent, folder)
    (Path(folder) / "memo.json").write_bytes(damage)
    agent.memo = Memo(folder, clock)

    assert agent.session()["total_reads"] == 0
    agent.reads("a.py")
    assert agent.check()["status"] == "fresh"


def test_one_flipped_bit_is_an_empty_memo(agent, folder, clock):
    body_of(agent, folder)
    path = Path(folder) / "memo.json"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)

    assert replace(agent, memo=Memo(folder, clock)).session()["total_reads"] == 0


def test_another_schema_is_an_empty_memo(agent, folder, clock):
    body = body_of(agent, folder) | {"schema": state.SCHEMA + 1}

    assert state.load(body, clock.now_s) == []
