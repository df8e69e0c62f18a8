"""What a log says of requests, decisions, commands and dead ends."""

from __future__ import annotations

from tests.sessions.test_brief import WORK, entry
from triseek.sessions import log_parts
from triseek.sessions.payload_room import size_of
from triseek.sessions.working_set import gather


def asked(*prompts, room=10_000):
    log = [entry(20 + number, "prompt", prompt=text) for number, text in enumerate(prompts)]
    return log_parts.requests(gather([*WORK, *log]), room)


def lines(part):
    return [line for block in part.blocks for line in block.lines if line]


def test_without_a_request_there_is_none():
    assert asked("hi", "ok").last == []
    assert asked().texts == []


def test_firm_decisions_come_first():
    found = asked("Use tabs.\nDo not push.", "Keep the tests.", "Now the docs")
    assert lines(log_parts.decisions(found)) == [
        "- Keep the tests.", "- Do not push.", "- Use tabs.",
    ]  # fmt: skip


def test_a_sentence_that_was_said_twice_is_listed_once():
    found = asked("Do not push.", "Do not push.", "Now the docs")
    assert lines(log_parts.decisions(found)) == ["- Do not push."]


def test_decisions_of_requests_that_are_shown_can_be_left_out():
    found = asked("Do not push.", "Keep the tests.", "Now the docs")
    [first, _] = log_parts.earlier(found).blocks
    rest = log_parts.without_shown(found, [first])
    assert lines(log_parts.decisions(rest)) == ["- Do not push."]


def test_the_last_request_is_cut_to_its_room_and_says_so():
    text = "\n".join(f"line {n}" for n in range(300))
    found = asked(text, room=1_000)
    assert not found.last_is_whole
    assert size_of(found.last) <= 500
    assert found.last[3] == "> line 0"
    assert found.last[-1] == "> line 299"


def test_a_request_with_a_long_paste_keeps_its_words():
    trace = "\n".join(f'  File "a.py", line {n}, in f' for n in range(90))
    found = asked(f"why?\n{trace}\nDo not guess.", "And the lexer?")
    shown = lines(log_parts.earlier(found))
    assert shown[0] == "> why?"
    assert shown[-1] == "> Do not guess."
    assert len(shown) < 12


def test_searches_for_nothing_are_one_line():
    searches = [
        entry(50 + n, "search", arguments={"query": f"q{n}"}, result_paths=[], total_line_matches=0)
        for n in range(3)
    ]
    work = gather([*WORK, *searches])
    [line] = [
        one for one in lines(log_parts.dead_ends(work, log_parts.nothing(work))) if "q1" in one
    ]
    assert line == "- finds nothing: `q2`, `q1`, `q0`, `jitter`"
