"""Estimates of tokens: by the bytes of what is sent, rounded up."""

from __future__ import annotations

import pytest

from triseek.model import token_estimate


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("naïve", 2), ("\ud800", 1)]
)
def test_text_takes_a_token_for_four_bytes(text: str, tokens: int) -> None:
    assert token_estimate.of_text(text) == tokens


def test_a_document_is_estimated_as_compact_json() -> None:
    assert token_estimate.of_json({"a": [1, 2]}) == token_estimate.of_text('{"a":[1,2]}')


@pytest.mark.parametrize(("size", "tokens"), [(0, 0), (1, 1), (3, 1), (4, 2), (7, 2), (350, 100)])
def test_source_takes_two_tokens_for_seven_bytes(size: int, tokens: int) -> None:
    assert token_estimate.of_source(size) == tokens
    assert token_estimate.of_source_text("x" * size) == tokens
