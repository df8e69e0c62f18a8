"""A preview is cut between characters as people count them."""

from __future__ import annotations

import pytest

from triseek.cli.render.clip import clipped, clusters, prefix_length


@pytest.mark.parametrize(
    "text",
    ["e\u0301", "👍🏽", "🇩🇪", "👩\u200d💻", "\r\n", "❤\ufe0f"],
)
def test_what_is_one_character_to_people_is_not_cut(text: str) -> None:
    assert clusters(f"a{text}b") == ["a", text, "b"]


def test_bytes_that_are_no_text_count_one_each() -> None:
    assert prefix_length(b"\xff\xfeab", 3) == 3


def test_ascii_is_cut_by_bytes() -> None:
    assert prefix_length(b"abcdef", 4) == 4


@pytest.mark.parametrize("first", [0, 100, 499, 999])
def test_a_clipped_line_keeps_its_match_and_whole_characters(first: int) -> None:
    line = ("é" * first + "needle" + "ü" * (1000 - first) + "\n").encode()
    begin = line.index(b"needle")

    shown, spans = clipped(line, [(begin, begin + 6)], 240)

    assert len(shown) < 250
    assert "needle" in shown.decode()
    assert [shown[start:end] for start, end in spans] == [b"needle"]
