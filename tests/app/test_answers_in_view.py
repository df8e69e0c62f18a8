"""A call is given the context that a hook announced for it, and what that certainly has in view."""

from __future__ import annotations

import pytest

from triseek.app.answers_in_view import LEAST_TOKENS, AnswersInView
from triseek.memo.memo import Memo
from triseek.model.call import Call
from triseek.model.hook_event import Context, ToolUse

CONTEXT = Context(harness="codex", session="s1", agent="a1")
WHO = {"harness": "codex", "session": "s1", "agent": "a1"}
TEXT = "2 matches in 1 file\n" + "".join(f"{number}:needle\n" for number in range(20))


@pytest.fixture
def memo() -> Memo:
    return Memo(None)


@pytest.fixture
def answers(memo: Memo) -> AnswersInView:
    return AnswersInView(memo)


def announced(memo: Memo, call: str) -> Call:
    memo.asking(CONTEXT, call, lambda: frozenset({"c1"}))
    return Call(who={**WHO, "call": call})


def shown(memo: Memo, call: str, text: str) -> None:
    use = ToolUse(name="mcp__triseek__find_files", call=call, search="x", output=text)
    memo.observe("/", CONTEXT, use)


def has(answers: AnswersInView, call: Call, search_id: str) -> bool:
    proven = answers.proven(call)
    return proven.has_in_view is not None and proven.has_in_view(search_id)


def test_an_announced_call_is_its_contexts(answers: AnswersInView, memo: Memo) -> None:
    assert answers.proven(announced(memo, "c1")).conversation == "session/s1/a1"


def test_an_announcement_counts_once(answers: AnswersInView, memo: Memo) -> None:
    call = announced(memo, "c1")

    assert [answers.proven(call) is call for _ in range(2)] == [False, True]


def test_an_announcement_ends_with_its_use(answers: AnswersInView, memo: Memo) -> None:
    call = announced(memo, "c1")
    shown(memo, "c1", TEXT)

    assert answers.proven(call) is call


@pytest.mark.parametrize("who", [{}, WHO, {**WHO, "call": "other"}])
def test_another_call_is_left_as_it_is(
    answers: AnswersInView, memo: Memo, who: dict[str, str]
) -> None:
    announced(memo, "c1")
    call = Call(who=who)

    assert answers.proven(call) is call


def test_a_client_that_names_its_context_needs_no_proof(answers: AnswersInView, memo: Memo) -> None:
    announced(memo, "c1")
    call = Call(conversation="context/main", who={**WHO, "call": "c1"})

    assert answers.proven(call) is call


def test_outside_of_the_daemon_nothing_is_proven() -> None:
    call = Call(who={**WHO, "call": "c1"})

    assert AnswersInView(None).proven(call) is call


def test_the_answer_whose_text_was_shown_is_in_view(answers: AnswersInView, memo: Memo) -> None:
    announced(memo, "c1")
    answers.note("search-0001", TEXT)
    answers.note("search-0002", TEXT + "21:needle\n")
    shown(memo, "c1", TEXT)

    assert has(answers, announced(memo, "c2"), "search-0001")
    assert not has(answers, announced(memo, "c3"), "search-0002")
    assert not has(answers, announced(memo, "c4"), "search-0003")


def test_a_short_answer_is_given_again(answers: AnswersInView, memo: Memo) -> None:
    text = "1 file\na.py"
    assert len(text) < 2 * LEAST_TOKENS
    announced(memo, "c1")
    answers.note("search-0001", text)
    shown(memo, "c1", text)

    assert not has(answers, announced(memo, "c2"), "search-0001")
