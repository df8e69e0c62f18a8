"""memo_check, memo_status and memo_session answer as the contract has it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.memo.memo_agents import CODE
from triseek.memo.context import SURE_S, SURE_TOKENS
from triseek.memo.resolve_context import ACTIVE_S
from triseek.model import token_estimate
from triseek.model.hook_event import Room

TOKENS = token_estimate.of_source(len(CODE))
WIDEST = max(len(line) for line in CODE.splitlines(keepends=True))


def write(agent, text, name="a.py"):
    Path(agent.root, name).write_text(text)


def said(answer):
    """As JSON, for the order of the keys is part of the contract."""
    return json.dumps(answer)


def test_check_of_a_fresh_file(agent, clock):
    agent.reads("a.py")
    clock.now_s += 9.9

    assert said(agent.check()) == said(
        {
            "path": "a.py",
            "status": "fresh",
            "recommendation": "skip_reread",
            "tokens_at_last_read": TOKENS,
            "last_read_ago_seconds": 9,
        }
    )


def test_check_of_a_file_that_changed_much(agent):
    agent.reads("a.py")
    write(agent, CODE[: len(CODE) // 2])

    assert said(agent.check()) == said(
        {
            "path": "a.py",
            "status": "stale",
            "recommendation": "reread",
            "tokens_at_last_read": TOKENS,
            "current_tokens": token_estimate.of_source(len(CODE) // 2),
            "last_read_ago_seconds": 0,
        }
    )


def test_check_of_a_file_that_changed_little_brings_the_diff(agent):
    agent.reads("a.py")
    write(agent, CODE.replace("compute(200)", "compute(0)"))
    answer = agent.check()

    assert list(answer) == [
        "path", "status", "recommendation", "tokens_at_last_read", "current_tokens",
        "last_read_ago_seconds", "diff",
    ]  # fmt: skip
    assert answer["recommendation"] == "reread_with_diff"
    assert answer["diff"].splitlines()[:3] == ["--- a/a.py", "+++ b/a.py", "@@ -197,7 +197,7 @@"]
    assert "-    value_200 = compute(200)\n+    value_200 = compute(0)\n" in answer["diff"]


def test_check_of_a_file_nobody_read(agent):
    agent.reads("a.py")
    unknown = {"path": "b.py", "status": "unknown", "recommendation": "reread"}

    assert said(agent.check("b.py")) == said(unknown)
    assert said(agent.check("b.py", session="nobody")) == said(unknown)
    assert agent.check("")["status"] == "unknown"
    assert agent.check("a\0b")["status"] == "unknown"


@pytest.mark.parametrize("is_known", [False, True])
def test_a_file_that_is_not_there_is_said_to_be_missing(agent, is_known):
    if is_known:
        agent.reads("a.py")

    assert said(agent.check("none.py")) == said(
        {
            "path": "none.py",
            "status": "unknown",
            "recommendation": "reread",
            "message": "There is no such file.",
        }
    )
    results = agent.memo.status(agent.root, ["none.py", "b.py", "a.py/x"], agent.asked())["results"]
    assert [result["message"] for result in results] == [
        "There is no such file.",
        "File not observed in this session.",
        "There is no such file.",
    ]


def test_check_of_a_file_that_is_gone(agent):
    agent.reads("a.py")
    Path(agent.root, "a.py").unlink()
    answer = agent.check()

    assert (answer["status"], answer["recommendation"]) == ("stale", "reread")
    assert "current_tokens" not in answer


def test_a_diff_is_given_below_a_tenth_and_not_at_it(agent):
    text = "".join(f"{number:033}\n" for number in range(100)) + "x" * 99 + "\n"
    assert token_estimate.of_source(len(text)) == 1000
    write(agent, text)
    agent.reads("a.py")

    write(agent, text + "y" * 349)
    assert agent.check()["current_tokens"] == 1100
    assert agent.check()["recommendation"] == "reread"
    write(agent, text + "y" * 346)
    assert agent.check()["current_tokens"] == 1099
    assert agent.check()["recommendation"] == "reread_with_diff"


def test_no_diff_for_one_who_has_seen_only_a_part(agent, another):
    another(session="s2").reads("a.py")
    agent.reads("a.py", last=399)
    write(agent, CODE.replace("compute(200)", "compute(0)"))

    assert agent.check()["recommendation"] == "reread"


def test_no_diff_that_is_too_long(agent):
    agent.reads("a.py")
    write(agent, CODE.replace("compute", "compose"))

    assert agent.check()["recommendation"] == "reread"


@pytest.mark.parametrize("name", [".env", "server.pem", "id_rsa", "api_keys.txt", "kept.log"])
def test_no_diff_of_a_secret(agent, folder, name):
    write(agent, CODE, name)
    agent.reads(name)
    write(agent, CODE.replace("compute(200)", "compute(0)"), name)

    assert agent.check(name)["recommendation"] == "reread"
    assert not (Path(folder) / "kept").exists()


def test_no_diff_of_what_git_ignores(agent, folder):
    Path(agent.root, ".gitignore").write_text("build/\n/sub/out.py\n")
    for sub in ("build", "sub"):
        Path(agent.root, sub).mkdir()
    for name in ("build/out.py", "sub/out.py"):
        write(agent, CODE, name)
        agent.reads(name)
    assert not (Path(folder) / "kept").exists()

    write(agent, CODE, "sub/other.py")
    agent.reads("sub/other.py")
    assert len(list((Path(folder) / "kept").iterdir())) == 1


def test_no_diff_of_what_became_a_secret(agent, folder):
    agent.reads("a.py")
    Path(agent.root, ".gitignore").write_text("a.py\n")
    write(agent, CODE.replace("compute(200)", "compute(0)"))

    assert agent.check()["recommendation"] == "reread"
    assert list((Path(folder) / "kept").iterdir()) == []


def test_check_of_a_part_says_which_part(agent):
    agent.reads("a.py", last=50)
    agent.reads("a.py", first=100, last=120)

    assert said(agent.check()) == said(
        {
            "path": "a.py",
            "status": "unknown",
            "recommendation": "reread",
            "tokens_at_last_read": TOKENS,
            "last_read_ago_seconds": 0,
            "message": "Of 400 lines only 1-50, 100-120 are known to be in context, unchanged; "
            "read the others.",
            "lines": "1-50, 100-120",
        }
    )


def test_all_parts_are_the_whole(agent):
    agent.reads("a.py", last=50)
    agent.reads("a.py", first=40)

    assert agent.check()["status"] == "fresh"


def test_status_of_a_fresh_a_stale_and_an_unknown_file(agent):
    agent.reads("a.py")
    agent.reads("b.py")
    text = CODE + "x" * 42
    write(agent, text, "b.py")
    now = token_estimate.of_source(len(text))

    assert said(agent.memo.status(agent.root, ["b.py", "a.py", "c.py"], agent.asked())) == said(
        {
            "session_id": "s1",
            "results": [
                {
                    "path": "b.py",
                    "status": "stale",
                    "tokens": token_estimate.of_source(len(CODE)),
                    "read_count": 1,
                    "message": f"Changed since last read (now ~{now} tokens); re-read file.",
                    "current_tokens": now,
                },
                {
                    "path": "a.py",
                    "status": "fresh",
                    "tokens": TOKENS,
                    "read_count": 1,
                    "message": f"Unchanged since last read. Skip re-read to save {TOKENS} tokens.",
                },
                {
                    "path": "c.py",
                    "status": "unknown",
                    "message": "There is no such file.",
                },
            ],
        }
    )


def test_a_file_that_was_touched_back_is_fresh_again(agent):
    agent.reads("a.py")
    write(agent, "else\n")
    assert agent.status()["status"] == "stale"

    write(agent, CODE)
    assert agent.status()["status"] == "fresh"


def test_a_file_that_was_read_unseen_is_not_fresh(agent):
    agent.shows(agent.use("a.py"), None)
    status = agent.status()

    assert (status["status"], status["read_count"], status["tokens"]) == ("unknown", 1, TOKENS)
    assert "not known" in status["message"]


def test_session_of_one_at_work(agent):
    agent.reads("a.py")
    agent.reads("b.py", last=10)
    agent.reads("a.py")

    assert said(agent.session()) == said(
        {
            "session_id": "s1",
            "tracked_files": 2,
            "total_reads": 2,
            "redundant_reads_prevented": 1,
            "tokens_saved": agent.session()["tokens_saved"],
            "compaction_count": 0,
            "files": [
                {"path": f"{agent.root}/a.py", "status": "fresh", "reads": 1, "tokens": TOKENS},
                {"path": f"{agent.root}/b.py", "status": "unknown", "reads": 1, "tokens": TOKENS},
            ],
            "redundant_reads": 0,
        }
    )


def test_session_of_nobody(memo, root, agent):
    nobody = {
        "session_id": "default",
        "tracked_files": 0,
        "total_reads": 0,
        "redundant_reads_prevented": 0,
        "tokens_saved": 0,
        "compaction_count": 0,
        "files": [],
        "redundant_reads": 0,
    }

    assert said(agent.session(session="")) == said(nobody)
    assert said(agent.session(session="other")) == said(nobody | {"session_id": "other"})


def test_what_is_saved_is_a_denied_read_less_what_it_costs_to_say_so(agent):
    agent.reads("a.py")
    denial = agent.reads("a.py")
    cost = token_estimate.of_source_text(denial.reason + denial.context_text)

    assert agent.session()["tokens_saved"] == denial.tokens - cost > 0


@pytest.mark.parametrize(
    ("room", "is_whole"),
    [
        (Room(lines=800, bytes=2 * len(CODE) + 8 * 800, line_bytes=WIDEST), True),
        (Room(lines=799), False),
        (Room(bytes=2 * len(CODE) + 8 * 800 - 1), False),
        (Room(line_bytes=WIDEST - 1), False),
    ],
    ids=["room enough", "too many lines", "too much", "too long a line"],
)
def test_what_would_not_have_been_shown_whole_is_not_saved(agent, room, is_whole):
    Path(agent.root, "b.py").write_text(CODE)
    agent.reads("a.py")
    agent.reads("b.py")

    assert agent.asks(agent.use("a.py", "b.py", room=room))
    assert agent.session()["redundant_reads_prevented"] == 2
    assert (agent.session()["tokens_saved"] > 0) == is_whole


def test_a_read_that_happens_after_all_saved_nothing(agent):
    agent.reads("a.py")
    agent.reads("a.py")
    agent.reads("a.py", first=300)
    session = agent.session()

    assert (session["redundant_reads_prevented"], session["tokens_saved"]) == (0, 0)
    assert session["total_reads"] == 2


def test_lines_that_are_read_otherwise_after_all_saved_nothing(agent):
    agent.reads("a.py")
    agent.reads("a.py")
    agent.shows(agent.use("a.py", only_reads=False), CODE)

    assert agent.session()["tokens_saved"] == 0
    assert agent.session()["redundant_reads"] == 1

    assert agent.reads("a.py") is None  # for it was denied last, and is taken back only once
    assert agent.session()["tokens_saved"] == agent.session()["redundant_reads_prevented"] == 0


def test_each_file_of_a_denied_read_is_one_prevented(agent):
    agent.reads("a.py", "b.py", last=100)
    denial = agent.reads("a.py", "b.py", last=100)
    assert agent.session()["redundant_reads_prevented"] == 2
    assert 0 < agent.session()["tokens_saved"] < denial.tokens

    agent.reads("b.py")
    assert agent.session()["redundant_reads_prevented"] == 1


@pytest.mark.parametrize("later", ["time", "tokens"])
def test_what_was_shown_long_ago_is_not_fresh(agent, clock, later):
    agent.reads("a.py")
    if later == "time":
        clock.now_s += SURE_S
    else:
        agent.memo.passed(agent.context, SURE_TOKENS)

    assert agent.check()["status"] == "unknown"
    assert agent.status()["message"] == (
        "Unchanged, but perhaps no longer in context; re-read file if you do not see it."
    )


def test_what_the_agents_own_record_has_lost_is_not_fresh(agent):
    agent.reads("a.py")
    agent.view.clear()

    assert agent.check()["status"] == "unknown"


def test_a_record_that_does_not_tell_is_not_believed_to(agent):
    agent.reads("a.py")
    agent.view = None

    assert agent.check()["status"] == "unknown"


@pytest.mark.parametrize(
    ("harness", "status"), [("codex", "fresh"), ("cursor", "unknown"), ("gemini", "unknown")]
)
def test_without_any_record_only_those_are_believed_that_would_have_one(another, harness, status):
    agent = another(harness=harness)
    use = agent.use("a.py", output=CODE)
    agent.memo.observe(agent.root, agent.context, use)

    assert agent.check()["status"] == status


# Who asks.


def test_a_call_that_a_hook_announced_is_that_contexts(agent, another):
    helper = another("helper")
    helper.reads("a.py")
    agent.memo.asking(agent.context, "call-1", agent.in_view)
    agent.memo.asking(helper.context, "call-2", helper.in_view)

    assert agent.check(session="", agent="", call="call-1")["status"] == "unknown"
    assert agent.check(session="", agent="", call="call-2")["status"] == "fresh"
    assert agent.check(session="", agent="", call="call-2", harness="codex")["status"] != "fresh"


def test_an_id_that_two_contexts_use_is_believed_for_what_both_have(agent, another):
    other = another(session="s2")
    other.reads("a.py")
    agent.memo.asking(agent.context, "1", agent.in_view)
    agent.memo.asking(other.context, "1", other.in_view)
    assert agent.check(session="", call="1")["status"] == "unknown"

    agent.reads("a.py")
    assert agent.check(session="", call="1")["status"] == "fresh"


def test_a_call_that_names_nobody_is_the_most_recents(agent):
    agent.reads("a.py")
    answer = agent.memo.status(agent.root, ["a.py"], agent.asked(session="", agent=""))

    assert answer["session_id"] == "s1"
    assert answer["results"][0]["status"] == "fresh"


def test_of_two_that_are_active_both_must_have_it(agent, another, clock):
    other = another(session="s2")
    other.reads("b.py")
    agent.reads("a.py")
    answer = agent.check(session="", agent="")
    assert answer["status"] == "unknown"
    assert "perhaps not by you" in answer["message"]
    assert agent.check()["status"] == "fresh"

    other.reads("a.py")
    assert agent.check(session="", agent="")["status"] == "fresh"

    agent.reads("b.py", last=10)
    answer = agent.check("b.py", session="", agent="")
    assert "lines" not in answer

    clock.now_s += ACTIVE_S + 1
    agent.reads("b.py", first=11)
    assert agent.check("b.py", session="", agent="")["status"] == "fresh"


def test_a_diff_is_for_those_who_had_what_was_there_before(agent, another):
    other = another(session="s2")
    other.reads("b.py")
    agent.reads("a.py")
    write(agent, CODE.replace("compute(200)", "compute(0)"))
    answer = agent.check(session="")

    assert (answer["status"], answer["recommendation"]) == ("stale", "reread")
    assert agent.check()["recommendation"] == "reread_with_diff"


def test_a_session_without_its_agent_may_be_any_of_its_agents(agent, another):
    agent.reads("a.py")
    another("helper").reads("b.py")

    assert agent.memo.check(agent.root, "a.py", agent.asked(agent=""))["status"] == "unknown"


def test_one_who_has_done_nothing_yet_may_be_the_one_who_asks(agent, another):
    agent.reads("a.py")
    agent.memo.forget(another("helper").context)

    assert agent.memo.check(agent.root, "a.py", agent.asked(agent=""))["status"] == "unknown"


@pytest.mark.parametrize("how", ["asking", "passed"])
def test_whoever_is_heard_of_is_active(agent, another, clock, how):
    agent.reads("a.py", last=10)
    helper = another("helper")
    clock.now_s += ACTIVE_S + 1
    helper.reads("a.py")
    if how == "asking":
        agent.memo.asking(agent.context, "call")
    else:
        agent.memo.passed(agent.context, 1)

    assert agent.memo.check(agent.root, "a.py", agent.asked(agent=""))["status"] == "unknown"


def test_another_client_is_not_answered_for_us(agent):
    agent.reads("a.py")

    assert agent.check(session="", harness="zed")["status"] == "unknown"
    assert agent.check(session="", harness="claude-code")["status"] == "fresh"


def test_another_root_is_not_answered_for_this_one(agent, tmp_path):
    agent.reads("a.py")
    path = os.path.join(agent.root, "a.py")

    assert agent.memo.check(str(tmp_path / "else"), path, agent.asked(session=""))["status"] != (
        "fresh"
    )
    below = os.path.join(agent.root, "sub")
    assert agent.memo.check(below, path, agent.asked(session=""))["status"] == "fresh"
    assert agent.memo.check(str(tmp_path), path, agent.asked(session=""))["status"] == "fresh"
