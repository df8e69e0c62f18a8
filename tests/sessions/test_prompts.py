"""What a person asked is told apart from greetings and from what is meant for the program."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.handoff.conversations import conversations
from triseek.sessions import prompts

TRACE = "\n".join(
    ["Traceback (most recent call last):"]
    + [f'  File "a.py", line {n}, in f\n    g({n})' for n in range(20)]
    + ["ValueError: no"]
)


@pytest.mark.parametrize(
    "text",
    [
        "hi", "Hello!", "hey, you there?", "ok", "OK go on", "yes please", "continue", "go on...",
        "perfect, thank you", "thanks!!", "👍", "ok cool 👍", "sounds good", "do it", "lgtm",
        "next", "Weiter", "yes, and continue",
    ],
)  # fmt: skip
def test_a_greeting_or_an_assent_asks_for_nothing(text):
    assert prompts.is_idle(text)
    assert not prompts.is_request(text)


@pytest.mark.parametrize(
    "text",
    [
        "ok now fix the test", "no", "keep it", "use tabs", "hi, the login page is broken",
        "continue with the parser", "thanks, but revert logging.py", "why?", "next: the README",
        "/usr/lib/x.so is missing", "# Task\nWrite it", "/fix-issue 12 and keep the tests",
        "<Switch> has a bug", "and the CI matrix!!",
    ],
)  # fmt: skip
def test_anything_else_does(text):
    assert prompts.is_request(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "  ", "/clear", "/compact keep the parser in mind", "/triseek handoff codex",
        "$triseek resume snap_1", "!ls", "<system-reminder>be good</system-reminder>",
        "<command-name>/model</command-name>\n<command-args>opus</command-args>",
        "Call session_resume of the MCP server triseek with snapshot_id snap_1",
    ],
)  # fmt: skip
def test_what_is_meant_for_the_program_is_no_request(text):
    assert prompts.is_for_program(text)
    assert prompts.title(text) == ""


def test_the_frozen_conversations_are_read_as_they_were_marked():
    for conversation in conversations():
        asking = {number for number, _ in conversation.instructions}
        for number, text in enumerate(conversation.prompts):
            assert prompts.is_request(text) == (number in asking), (conversation.name, text)


def test_what_the_program_has_put_into_a_prompt_was_not_said():
    text = "Fix it.<system-reminder>Never say this.</system-reminder>"
    assert prompts.said(text) == "Fix it."
    assert prompts.decisions(text) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Fix the login. Don't touch the cookie code.", ["Don't touch the cookie code."]),
        ("Dont mock sleep", ["Dont mock sleep"]),
        ("never run apply. Only plan.", ["never run apply.", "Only plan."]),
        ("use xlsxwriter, not openpyxl", ["use xlsxwriter, not openpyxl"]),
        ("keep minSdk 24", ["keep minSdk 24"]),
        ("- dates are local\n- never round", ["- never round"]),
        ("It must hold e.g. for tabs. Thanks.", ["It must hold e.g. for tabs."]),
        ("Where is the parser?", []),
        (f"why?\n{TRACE}", []),
        ("```\nassert x must not be 1\n```", []),
    ],
)
def test_what_it_forbids_or_decides_is_found_in_its_words(text, found):
    assert prompts.decisions(text) == found


def test_long_pastes_are_cut_to_their_ends_and_words_are_not():
    words = "\n".join(f"{n}. do not forget step {n}" for n in range(30))
    text = f"{words}\n{TRACE}\nthat is it"
    short = prompts.shortened(text)
    assert words in short
    assert short.endswith("ValueError: no\nthat is it")
    assert "[37 pasted lines left out]" in short
    assert prompts.shortened("a\n  b\n  c\nd") == "a\n  b\n  c\nd"


@given(st.text(max_size=400))
def test_any_text_can_be_read(text):
    prompts.is_request(text)
    assert "\0" not in "".join(prompts.decisions(text))
    assert len(prompts.title(text)) <= prompts.TITLE_MAX
    prompts.shortened(text)
