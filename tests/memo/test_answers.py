"""What our own tools have shown counts as known only while it is certainly in view."""

from __future__ import annotations

import pytest

from triseek.memo.memo import Asked
from triseek.memo.output_match import text_digest, whole
from triseek.model.hook_event import Room, ToolUse

TEXT = "2 matches in 1 file\na.py\n1:needle\n2:needle\n"
DIGEST = text_digest(TEXT)
NAME = "mcp__triseek__search_content"


def searches(agent, call="c1", text=TEXT, **more):
    """A search of this context, from its hook before to its hook after."""
    agent.memo.asking(agent.context, call, agent.in_view)
    shows(agent, call, text, **more)


def shows(agent, call, text, **more):
    agent.view.add(call)
    use = ToolUse(**{"name": NAME, "call": call, "search": "needle", "output": text} | more)
    agent.memo.observe(agent.root, agent.context, use, agent.in_view)


def has(one, call="now", **who):
    """Whether a search that the context makes now is answered by what it has."""
    one.memo.asking(one.context, call, one.in_view)
    return asked(one, call, **who)


def asked(one, call, **who):
    askers = one.memo.announced(Asked(call=call, **who))
    return askers is not None and one.memo.has_shown(askers, DIGEST)


def test_an_answer_that_was_shown_is_known(agent):
    searches(agent)

    assert has(agent)
    assert has(agent, harness="claude-code", session="s1")


def test_a_call_that_no_hook_announced_is_nobodys(agent):
    searches(agent)

    assert not asked(agent, "unheard")
    assert not asked(agent, "")


@pytest.mark.parametrize("who", [{"session": "s2"}, {"harness": "codex"}, {"agent": "a1"}])
def test_a_call_that_says_it_is_another_contexts_is_not_believed(agent, who):
    searches(agent)

    assert not has(agent, **who)


def test_a_call_that_two_contexts_announced_is_nobodys(agent, another):
    searches(agent)
    other = another("a1")
    searches(other, "c2")
    other.memo.asking(other.context, "now", other.in_view)

    assert not has(agent)


@pytest.mark.parametrize("who", [{"name": "a1"}, {"session": "s2"}, {"harness": "codex"}])
def test_what_one_context_was_shown_no_other_has(agent, another, who):
    searches(agent)

    assert not has(another(**who))


def test_what_is_not_in_view_is_not_known(agent):
    searches(agent)
    agent.view.remove("c1")

    assert not has(agent)


def test_without_a_record_nothing_is_known(agent):
    searches(agent)
    agent.view = None

    assert not has(agent)


def test_without_evidence_nothing_is_known(agent):
    searches(agent)
    agent.memo.asking(agent.context, "now")

    assert not asked(agent, "now")


@pytest.mark.parametrize(
    "more",
    [
        {"output": TEXT[:-1]}, {"output": None}, {"output": ""}, {"failed": True}, {"call": ""},
        {"name": "mcp__other__search"}, {"room": Room(lines=3)}, {"room": Room(bytes=40)},
        {"room": Room(line_bytes=10)},
    ],
    ids=str,
)  # fmt: skip
def test_what_was_not_shown_as_a_whole_is_not_known(agent, more):
    searches(agent, **more)

    assert not has(agent)


@pytest.mark.parametrize("how", [{}, {"compacted": True, "emptied": True}, {"whole_session": True}])
def test_what_was_forgotten_is_not_known(agent, how):
    searches(agent)
    agent.memo.forget(agent.context, **how)

    assert not has(agent)


def test_an_answer_that_is_reported_after_its_context_forgot_is_not_known(agent):
    agent.memo.asking(agent.context, "c1", agent.in_view)
    agent.memo.forget(agent.context, compacted=True, emptied=True)
    shows(agent, "c1", TEXT)

    assert not has(agent)


def test_a_context_that_forgets_while_its_record_is_read_is_not_believed(agent):
    searches(agent)

    def in_view():
        agent.memo.forget(agent.context)
        return frozenset({"c1"})

    agent.memo.asking(agent.context, "now", in_view)

    assert not asked(agent, "now")


def test_an_old_answer_is_not_known(agent, clock):
    searches(agent)
    clock.now_s += 31 * 60

    assert not has(agent)


def test_what_much_has_come_after_is_not_known(agent):
    searches(agent)
    agent.memo.passed(agent.context, 30_000)

    assert not has(agent)


@pytest.mark.parametrize("begun", [True, False])
def test_an_id_that_is_used_again_is_another_use(agent, begun):
    """Some agents number their uses anew in each answer."""
    searches(agent)
    if begun:
        agent.memo.asking(agent.context, "c1", agent.in_view)
    else:
        shows(agent, "c1", "other", name="Bash")

    assert not has(agent)


def test_the_newest_of_two_calls_counts(agent):
    searches(agent)
    searches(agent, "c2")
    agent.view.remove("c1")

    assert has(agent)


def test_a_text_that_utf_8_cannot_encode_has_a_digest():
    assert whole(ToolUse(name=NAME, call="c", output="\ud800")) == text_digest("\ud800")
