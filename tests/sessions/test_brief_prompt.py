"""What a model is given: bounded, one document, whatever the log holds."""

from __future__ import annotations

import dataclasses
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sessions.test_brief import ENTRIES, TEXTS, entry, search, snapshot
from triseek.model.snapshot import Pin
from triseek.sessions.brief_prompt import DIGEST_MAX, HIDDEN, PINS_MAX, again, digest, messages


def with_pins(*texts, path="src/a.py"):
    pins = tuple(
        Pin(path=path, line_start=1, line_end=2, sha=f"{n:064x}") for n in range(len(texts))
    )
    snippets = {pin.sha: text for pin, text in zip(pins, texts, strict=True)}
    return snapshot([])._replace(pins=pins, snippets=snippets)


@given(ENTRIES, TEXTS, st.lists(TEXTS, max_size=40), TEXTS)
def test_a_digest_is_one_document_within_its_bounds(entries, goal, dirty, branch):
    log = [entry(number, kind, **payload) for number, (kind, payload) in enumerate(entries, 1)]
    held = snapshot(log, goal, dirty)
    held = held._replace(git=dataclasses.replace(held.git, branch=branch))
    text = digest(held, snippets=True)

    told = json.loads(text)
    assert set(told) == {"goal", "branch", "uncommitted", "prompts", "files", "searches", "pinned"}
    assert len(text) <= DIGEST_MAX + 100
    assert text == digest(held, snippets=True)
    assert text.isascii()
    for part in ("prompts", "files", "searches"):
        numbers = [one["entry"] for one in told[part]]
        assert set(numbers) <= set(range(1, len(log) + 1))


def test_the_largest_of_everything_fits():
    wide = "\U0001f600" * 15_000
    log = [entry(n, "prompt", prompt=f"{n}{wide}") for n in range(1, 40)]
    log += [search(n, f"{n}{wide}", [wide] * 20) for n in range(40, 80)]
    held = snapshot(log, wide, [wide] * 99)
    held = held._replace(git=dataclasses.replace(held.git, branch=wide))

    assert 8_000 < len(digest(held, snippets=False)) <= DIGEST_MAX + 100


def test_pinned_lines_go_along_only_when_asked_for():
    held = with_pins("x = 1", "y" * (PINS_MAX - 5), "z")

    assert "pinned" not in json.loads(digest(held, snippets=False))
    told = json.loads(digest(held, snippets=True))["pinned"]
    assert [len(one["text"]) for one in told] == [5, PINS_MAX - 5]
    assert json.loads(digest(with_pins("x", path="a/.env"), snippets=True))["pinned"] == []
    secret = with_pins("key = 'AKIAIOSFODNN7EXAMPLE'\npassword='hunter22'\n")
    [one] = json.loads(digest(secret, snippets=True))["pinned"]
    assert one["text"] == f"key = '[redacted: aws-key]'\npassword='{HIDDEN}'\n"


@pytest.mark.parametrize(
    "piece",
    ["eyJ", "eyJ-", "sk-", "password", "password ", "://a:", "-----BEGIN", "bearer ", "token='"],
)
def test_looking_for_secrets_takes_no_time(piece):
    log = [entry(n, "prompt", prompt=piece * (60_000 // len(piece))) for n in range(1, 9)]
    began = time.process_time()
    digest(snapshot(log), snippets=False)

    assert time.process_time() - began < 3


@pytest.mark.parametrize(
    "text",
    ["the token expired", "git log --oneline", "def secret_key(self):", "src/tokens.py",
     "task-list", "bearer of news", "a password is needed", "http://example.org:80/x",
     "sha256:0a1b"],
)  # fmt: skip
def test_what_is_no_secret_stays(text):
    told = json.loads(digest(snapshot([entry(1, "prompt", prompt=text)]), snippets=False))

    assert told["prompts"][0]["text"] == text


def test_a_model_is_told_what_was_wrong():
    asked = messages(snapshot([]), snippets=False)
    second = again(asked, "x" * 100_000, "briefing missing required header ## Goal")

    assert second[:2] == asked
    assert len(second[2]["content"]) == 12_000
    assert "missing required header ## Goal" in second[3]["content"]
    assert [one["role"] for one in second] == ["system", "user", "assistant", "user"]
