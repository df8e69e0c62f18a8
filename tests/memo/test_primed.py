"""A resume tells the memo what earlier work had read; nobody is kept from reading it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from tests.memo.memo_agents import CODE, Agent
from triseek.memo import primed
from triseek.memo.context import SURE_S
from triseek.memo.memo import Memo, Primed, PrimedFile
from triseek.memo.resolve_context import Asked
from triseek.model import token_estimate
from triseek.model.hook_event import Context

TOKENS = token_estimate.of_source(len(CODE))
LINES = CODE.count("\n")
SNAPSHOT = "snap_1_before"
SINCE = f"since the session that was resumed (snapshot {SNAPSHOT})"
CALL = "resume-1"
WHOLE = ((1, LINES),)


def prime(agent, *names, carries=(), call="", snapshot=SNAPSHOT, root="", lines=()):
    files = []
    for name in names or ("a.py",):
        path = Path(agent.root, name)
        held = path.read_bytes()
        sha = hashlib.sha256(held).hexdigest()
        tokens = token_estimate.of_source(len(held))
        files.append(PrimedFile(str(path), sha, tokens, lines, carries))
    who = Asked(call=call)
    agent.memo.prime(root or agent.root, Primed(snapshot, who, tuple(files)))


def payload(text=CODE, snapshot=SNAPSHOT):
    return f"# TriSeek Hydration Payload\n\n- snapshot_id: {snapshot}\n\n```text\n{text}```\n"


def resume(agent, *names, carries=WHOLE, output=None, call=CALL, **more):
    """The agent calls session_resume, and is shown the payload."""
    agent.memo.asking(agent.context, call, agent.in_view)
    prime(agent, *names, carries=carries, call=call, **more)
    agent.shows(agent.use(call=call, reads=()), payload() if output is None else output)


def begins(agent):
    """As the observer has it: a session that starts has forgotten, and is at work."""
    agent.memo.forget(agent.context, whole_session=True, emptied=True)
    agent.memo.begin(agent.root, agent.context, agent.in_view)


def test_a_primed_file_is_unchanged_and_still_to_be_read(agent):
    prime(agent)
    agent.memo.begin(agent.root, agent.context, agent.in_view)

    assert json.dumps(agent.check()) == json.dumps(
        {
            "path": "a.py",
            "status": "fresh",
            "recommendation": "reread",
            "tokens_at_last_read": TOKENS,
            "primed": True,
            "snapshot_id": SNAPSHOT,
            "message": f"Unchanged {SINCE}, but not in your context; read what you need of it.",
        }
    )
    assert agent.status() == {
        "path": "a.py",
        "status": "fresh",
        "tokens": TOKENS,
        "read_count": 0,
        "message": f"Unchanged {SINCE}, but not in your context; read what you need of it.",
        "primed": True,
        "snapshot_id": SNAPSHOT,
        "recommendation": "reread",
    }
    assert agent.session()["tracked_files"] == 0
    assert agent.session()["files"] == []
    assert agent.session()["primed_files"] == [
        {"path": str(Path(agent.root, "a.py")), "status": "fresh", "tokens": TOKENS}
    ]
    assert agent.session()["snapshot_id"] == SNAPSHOT


def test_it_is_told_to_those_no_hook_tells_of(memo, agent):
    prime(agent)
    assert memo.check(agent.root, "a.py", Asked(harness="zed"))["primed"]
    assert memo.check(agent.root, "b.py", Asked(harness="zed"))["status"] == "unknown"


def test_no_reading_is_refused_for_it(agent):
    resume(agent)
    assert agent.check()["recommendation"] == "skip_reread"
    assert agent.reads("a.py") is None
    assert agent.reads("a.py") is not None  # for now it was shown by a reading


def test_what_the_context_has_read_itself_goes_first(agent):
    prime(agent)
    agent.reads("a.py")
    assert "primed" not in agent.check()
    assert agent.check()["recommendation"] == "skip_reread"
    assert "primed_files" not in agent.session()


@pytest.mark.parametrize("how", ["changed", "gone"])
def test_a_file_that_changed_since_is_stale(agent, how):
    prime(agent)
    path = Path(agent.root, "a.py")
    path.write_text("x = 1\n") if how == "changed" else path.unlink()
    answer = agent.check()

    assert (answer["status"], answer["recommendation"]) == ("stale", "reread")
    assert answer["message"].startswith(f"Changed {SINCE}")
    assert answer.get("current_tokens") == (2 if how == "changed" else None)
    assert answer["primed"]
    path.write_text(CODE)
    assert agent.check()["status"] == "fresh"


# Who has the payload


def test_the_receiver_of_a_payload_that_quotes_the_file_may_skip_it(agent):
    resume(agent)
    answer = agent.check()
    assert (answer["status"], answer["recommendation"]) == ("fresh", "skip_reread")
    assert answer["message"].startswith(f"Unchanged {SINCE}, and quoted whole")
    assert agent.status()["recommendation"] == "skip_reread"


def test_a_payload_that_quotes_some_lines_names_them(agent):
    resume(agent, carries=((1, 5),), output=payload("".join(CODE.splitlines(True)[:5])))
    answer = agent.check()
    assert (answer["status"], answer["recommendation"]) == ("fresh", "reread")
    assert answer["lines"] == "1-5"
    assert f"Of {LINES} lines the hydration payload quotes only 1-5; read" in answer["message"]


def test_that_these_were_all_that_had_been_read_is_no_reason_to_skip_the_others(agent):
    some = payload("".join(CODE.splitlines(True)[:5]))
    resume(agent, carries=((1, 5),), output=some, lines=((2, 4),))
    assert "1-5 (all that session had read)" in agent.check()["message"]
    assert agent.check()["recommendation"] == "reread"


@pytest.mark.parametrize(
    "output",
    ["", "Error: no such snapshot", payload(CODE.replace("compute(7)", "compute(8)")),
     payload("".join(CODE.splitlines(True)[:300])), payload() + "x" * primed.SHOWN_MAX],
)  # fmt: skip
def test_what_the_output_does_not_bear_out_is_not_there(agent, output):
    resume(agent, output=output)
    assert agent.check()["recommendation"] == "reread"


def test_an_output_that_is_json_is_read_as_such(agent):
    resume(agent, output=json.dumps({"session_id": "s", "payload_markdown": payload()}))
    assert agent.check()["recommendation"] == "skip_reread"


def test_another_context_has_not_got_it(agent, another):
    other, child = another(session="s2"), another("child")
    for one in (other, child):
        one.memo.begin(one.root, one.context, one.in_view)
    resume(agent)
    assert other.check()["recommendation"] == "reread"
    assert child.check()["recommendation"] == "reread"
    # Two are at work here: it may be either that asks.
    unnamed = agent.memo.check(agent.root, "a.py", Asked())
    assert (unnamed["status"], unnamed["recommendation"]) == ("fresh", "reread")


def test_a_call_that_two_contexts_announced_is_nobodys(agent, another):
    agent.memo.asking(another(session="s2").context, CALL)
    resume(agent)
    assert agent.check()["recommendation"] == "reread"


def test_a_call_that_no_hook_announced_is_nobodys(agent):
    agent.memo.begin(agent.root, agent.context, agent.in_view)
    prime(agent, carries=WHOLE, call=CALL)
    agent.shows(agent.use(call=CALL, reads=()), payload())
    assert agent.check()["recommendation"] == "reread"


def test_what_the_record_no_longer_holds_is_not_there(agent):
    resume(agent)
    agent.view.discard(CALL)
    assert agent.check()["recommendation"] == "reread"


def test_a_payload_of_long_ago_may_have_been_dropped(agent, clock):
    resume(agent)
    clock.now_s += SURE_S
    assert agent.check()["recommendation"] == "reread"


@pytest.mark.parametrize("how", ["compacted", "cleared", "ended"])
def test_a_context_that_forgets_has_it_no_more(agent, how):
    resume(agent)
    if how == "ended":
        agent.memo.end(agent.context)
    else:
        agent.memo.forget(agent.context, compacted=how == "compacted", emptied=True)
    agent.memo.begin(agent.root, agent.context, agent.in_view)
    answer = agent.check()
    assert (answer["status"], answer["recommendation"]) == ("fresh", "reread")


def test_a_payload_that_comes_after_a_compaction_came_before_it(agent):
    agent.memo.asking(agent.context, CALL, agent.in_view)
    prime(agent, carries=WHOLE, call=CALL)
    agent.memo.forget(agent.context, compacted=True)
    agent.shows(agent.use(call=CALL, reads=()), payload())
    assert agent.check()["recommendation"] == "reread"


# Payloads in a project's file


@pytest.fixture
def instructed(agent):
    Path(agent.root, "CLAUDE.md").write_text("# Ours\n" + payload())
    prime(agent, carries=WHOLE)
    begins(agent)
    return agent


def test_a_context_that_begins_with_the_payload_has_it(instructed, clock):
    clock.now_s += 2 * SURE_S  # instructions are not dropped
    assert instructed.check()["recommendation"] == "skip_reread"
    assert instructed.reads("a.py") is None


def test_one_that_began_before_has_not(agent):
    begins(agent)
    Path(agent.root, "CLAUDE.md").write_text(payload())
    prime(agent, carries=WHOLE)
    agent.memo.begin(agent.root, agent.context, agent.in_view)
    assert agent.check()["recommendation"] == "reread"


def test_one_whose_beginning_was_not_heard_has_not(agent):
    Path(agent.root, "CLAUDE.md").write_text(payload())
    prime(agent, carries=WHOLE)
    agent.memo.begin(agent.root, agent.context, agent.in_view)
    assert agent.check()["recommendation"] == "reread"


def test_a_sub_agent_may_begin_with_other_instructions(instructed, another):
    child = another("child")
    child.memo.forget(child.context, emptied=True)
    child.memo.begin(child.root, child.context, child.in_view)
    assert child.check()["recommendation"] == "reread"


def test_after_a_compaction_it_is_not_known_what_it_begins_with(instructed):
    instructed.memo.forget(instructed.context, compacted=True)
    instructed.memo.forget(instructed.context, whole_session=True, emptied=True)
    instructed.memo.begin(instructed.root, instructed.context, instructed.in_view)
    assert instructed.check()["recommendation"] == "reread"


@pytest.mark.parametrize(
    "text", ["", payload(CODE[:500]), payload(snapshot="snap_2"), payload() + "x" * 40_000]
)
def test_the_file_has_to_hold_it_still(instructed, text):
    Path(instructed.root, "CLAUDE.md").write_text(text)
    assert instructed.check()["recommendation"] == "reread"


def test_the_file_has_to_be_the_one_it_began_with_untouched(instructed):
    """It may have compacted, unheard, while the file held something else."""
    path = Path(instructed.root, "CLAUDE.md")
    text = path.read_text()
    assert instructed.check()["recommendation"] == "skip_reread"
    path.write_text("# another\n")
    path.write_text(text)
    assert instructed.check()["recommendation"] == "reread"


def test_a_file_that_is_read_instead_counts(agent):
    codex = Agent(agent.memo, agent.root, Context(harness="codex", session="c"))
    Path(agent.root, "AGENTS.md").write_text(payload())
    Path(agent.root, "AGENTS.override.md").write_text("")
    prime(agent, carries=WHOLE)
    begins(codex)
    assert codex.check()["recommendation"] == "reread"


# Replaced, forgotten, kept


def test_a_newer_resume_takes_the_place_of_an_older(agent):
    resume(agent)
    prime(agent, "b.py", snapshot="snap_2")
    assert agent.check()["status"] == "unknown"
    assert agent.check("b.py")["snapshot_id"] == "snap_2"
    prime(agent, snapshot="snap_3")
    assert agent.check()["recommendation"] == "reread"  # it has another's payload


def test_each_root_has_its_own(agent, tmp_path):
    prime(agent, root=str(tmp_path / "other"))
    assert agent.check()["status"] == "unknown"


def test_to_erase_drops_it(agent, folder, clock):
    prime(agent)
    agent.memo.erase(agent.root + "/elsewhere")
    assert agent.check()["status"] == "fresh"
    agent.memo.erase(str(Path(agent.root).parent))
    assert agent.check()["status"] == "unknown"
    agent.memo.close()
    assert "primed_files" not in Memo(folder, clock).session(agent.root, Asked())


def test_it_is_not_told_for_ever(agent, clock):
    prime(agent)
    clock.now_s += primed.IDLE_S
    assert agent.check()["status"] == "unknown"


@pytest.mark.parametrize("closed", [True, False])
def test_it_outlives_the_daemon(agent, folder, clock, closed):
    resume(agent)
    agent.memo.close() if closed else agent.memo.save()
    agent.memo = Memo(folder, clock)
    agent.memo.begin(agent.root, agent.context, agent.in_view)
    assert agent.check()["recommendation"] == "skip_reread"
    agent.view.discard(CALL)
    assert agent.check()["recommendation"] == "reread"
    assert agent.reads("a.py") is None


def test_what_it_began_with_may_have_been_read_anew_while_nobody_listened(
    instructed, folder, clock
):
    instructed.memo.close()
    for later, expected in ((1, "skip_reread"), (3_600, "reread")):
        clock.now_s += later
        instructed.memo = Memo(folder, clock)
        instructed.memo.begin(instructed.root, instructed.context, instructed.in_view)
        assert instructed.check()["recommendation"] == expected
        instructed.memo.close()


@pytest.mark.parametrize("junk", [None, 5, [5], [{}], [{"root": "/r", "snapshot_id": "s"}]])
def test_a_damaged_priming_is_none(junk):
    assert list(primed.load(junk, 0.0)) == []


def test_it_keeps_within_bounds(agent):
    one = PrimedFile("/r/f", "0" * 64, 1, ((1, 1),) * 3, tuple((n, n) for n in range(1, 999, 2)))
    many = tuple(
        one.__class__(f"/r/{n}", one.sha, 1, one.lines, one.in_payload) for n in range(999)
    )
    for number in range(2 * primed.ALL_FILES_MAX // primed.FILES_MAX):
        agent.memo.prime(f"/r{number}", Primed(SNAPSHOT, Asked(), many))
    kept = list(agent.memo._primings)
    assert sum(len(priming.files) for _, priming in kept) <= primed.ALL_FILES_MAX
    assert kept[-1][0] == f"/r{number}"
    assert len(kept[-1][1].files) == primed.FILES_MAX
    assert all(len(file.in_payload) <= 64 for file in kept[-1][1].files.values())
