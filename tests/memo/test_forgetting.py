"""What may have left a context is forgotten; what is counted stays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.memo.memo_agents import CODE
from triseek.memo.context import FILES_MAX, LATE_S
from triseek.memo.memo import Memo
from triseek.memo.table import CONTEXTS_PER_SESSION, IDLE_S, SESSIONS_PER_ROOT


def test_a_compaction_forgets_and_totals_stay(agent):
    agent.reads("a.py")
    agent.reads("a.py")
    before = agent.session()
    agent.memo.forget(agent.context, compacted=True)
    after = agent.session()

    assert agent.reads("a.py") is None
    assert after["tokens_saved"] == before["tokens_saved"] > 0
    assert after["redundant_reads_prevented"] == 1
    assert after["compaction_count"] == before["compaction_count"] + 1 == 1
    assert (after["tracked_files"], after["files"]) == (0, [])


def test_one_context_forgets_or_the_whole_session(agent, another):
    helper, stranger = another("helper"), another(session="s2")
    for one in (agent, helper, stranger):
        one.reads("a.py")

    agent.memo.forget(agent.context)
    assert [one.check()["status"] for one in (agent, helper)] == ["unknown", "fresh"]
    agent.memo.forget(agent.context, whole_session=True)
    assert [one.check()["status"] for one in (helper, stranger)] == ["unknown", "fresh"]


def test_the_end_of_a_session_is_that_of_all_its_agents(agent, another):
    helper = another("helper")
    agent.reads("a.py")
    helper.reads("a.py")
    agent.memo.end(helper.context)
    assert [one.check()["status"] for one in (agent, helper)] == ["fresh", "unknown"]

    helper.reads("a.py")
    agent.memo.end(agent.context)
    assert [one.check()["status"] for one in (agent, helper)] == ["unknown", "unknown"]
    assert agent.session()["total_reads"] == 0


def test_what_nobody_knows_may_be_forgotten(agent):
    agent.memo.forget(agent.context, whole_session=True)
    agent.memo.end(agent.context)
    agent.memo.passed(agent.context, 5)
    agent.memo.edited("relative\0")

    assert agent.session()["tracked_files"] == 0


def test_what_comes_late_is_not_credited(agent):
    use = agent.use("a.py")
    assert agent.asks(use) is None
    agent.memo.forget(agent.context, compacted=True)
    agent.shows(use, CODE)

    assert agent.check()["status"] == "unknown"
    assert agent.reads("a.py") is None


def test_what_comes_late_and_was_not_announced_is_not_credited(agent, clock):
    agent.reads("b.py")
    agent.memo.forget(agent.context, compacted=True)
    agent.shows(agent.use("a.py"), CODE)
    assert agent.check()["status"] == "unknown"

    clock.now_s += LATE_S + 1
    agent.shows(agent.use("a.py"), CODE)
    assert agent.check()["status"] == "fresh"


def test_what_comes_after_the_end_is_not_credited(agent):
    use = agent.use("a.py")
    agent.asks(use)
    agent.memo.end(agent.context)
    agent.shows(use, CODE)

    assert agent.check()["status"] == "unknown"


def test_a_new_session_is_credited_from_its_first_read(agent):
    agent.memo.begin(agent.root, agent.context)
    agent.memo.forget(agent.context, whole_session=True)
    agent.shows(agent.use("a.py"), CODE)

    assert agent.check()["status"] == "fresh"


def test_what_is_read_after_a_compaction_is_credited(agent):
    agent.reads("a.py")
    agent.memo.forget(agent.context, compacted=True)
    agent.reads("a.py")

    assert agent.check()["status"] == "fresh"


def test_forgetting_while_a_file_is_looked_at_wins(agent, monkeypatch):
    from triseek.memo import look

    seen = look.look

    def and_forget(path):
        agent.memo.forget(agent.context)
        return seen(path)

    use = agent.use("a.py")
    agent.asks(use)
    monkeypatch.setattr(look, "look", and_forget)
    agent.shows(use, CODE)
    monkeypatch.undo()

    assert agent.check()["status"] == "unknown"


def test_a_session_that_is_idle_for_a_day_is_dropped(agent, another, clock):
    agent.reads("a.py")
    clock.now_s += IDLE_S + 1
    another(session="s2").reads("a.py")

    assert agent.session()["total_reads"] == 0


def test_of_too_many_sessions_the_oldest_go(agent, another):
    agent.reads("a.py")
    for number in range(SESSIONS_PER_ROOT - 1):
        another(session=f"n{number}").reads("a.py")
    assert agent.check()["status"] == "fresh"

    another("helper", session="n0").reads("a.py")
    assert agent.check()["status"] == "fresh"
    another(session="one too many").reads("b.py")
    assert agent.check()["status"] == "unknown"
    assert len(agent.memo._table) == SESSIONS_PER_ROOT + 1


def test_of_too_many_agents_of_a_session_the_oldest_go(agent, another):
    for number in range(CONTEXTS_PER_SESSION + 5):
        another(f"helper {number}").reads("a.py")

    assert len(agent.memo._table) == CONTEXTS_PER_SESSION


def test_of_too_many_files_the_oldest_go(agent):
    for number in range(FILES_MAX + 1):
        Path(agent.root, f"{number}.txt").write_text(f"this is the text of {number}\n")
        agent.shows(agent.use(f"{number}.txt"), f"this is the text of {number}\n")

    assert agent.session()["tracked_files"] == FILES_MAX
    assert agent.check("0.txt")["status"] == "unknown"
    assert agent.check(f"{FILES_MAX}.txt")["status"] == "fresh"


def test_names_without_end_are_not_remembered(another):
    agent = another("x" * 100_000)
    agent.reads("a.py")

    assert len(agent.memo._table) == 0


def test_erasing_leaves_nothing_on_disk(agent, another, folder, tmp_path):
    elsewhere = replace(another(session="s2"), root=str(tmp_path / "else"))
    Path(elsewhere.root).mkdir()
    Path(elsewhere.root, "c.py").write_text(CODE[:1000])
    elsewhere.reads("c.py")
    agent.reads("a.py")
    agent.memo.save()

    assert agent.memo.erase(agent.root) == 1
    text = (Path(folder) / "memo.json").read_text()
    assert "a.py" not in text
    assert "c.py" in text
    assert agent.check()["status"] == "unknown"
    assert elsewhere.check("c.py")["status"] == "fresh"

    agent.reads("a.py")
    assert agent.memo.erase() == 2
    assert "py" not in (Path(folder) / "memo.json").read_text()
    assert list((Path(folder) / "kept").iterdir()) == []


@pytest.mark.parametrize("how", ["forget", "end"])
def test_what_was_forgotten_does_not_come_back_after_a_kill(agent, folder, clock, how):
    agent.reads("a.py")
    agent.memo.save()
    if how == "forget":
        agent.memo.forget(agent.context)
    else:
        agent.memo.end(agent.context)

    again = replace(agent, memo=Memo(folder, clock))
    again.memo.asking(again.context, "call", again.in_view)
    assert again.check(call="call")["status"] == "unknown"
