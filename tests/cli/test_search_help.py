"""Help is made of the flag table."""

from __future__ import annotations

import pytest

from tests.flags_page import reference
from triseek.cli.flags import FLAGS, SECTIONS
from triseek.cli.search_help import SHORT, WIDTH, search_help, spelled


def test_every_flag_is_listed_or_said_to_be_missing() -> None:
    text = search_help()
    listed, missing = text.split("ripgrep's flags that triseek does not have:\n")

    for flag in FLAGS:
        if flag.refusal:
            assert f"--{flag.long}" in missing
        else:
            assert f"{spelled(flag)} " in listed or f"{spelled(flag)}\n" in listed
    assert [name for name in SECTIONS if f"\n{name}:\n" not in listed] == []
    assert max(map(len, text.splitlines())) <= WIDTH


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("regexp", "  -e, --regexp=PATTERN"),
        ("crlf", "      --crlf"),
        ("hidden", "  -., --hidden"),
    ],
)
def test_a_flag_is_spelled_with_its_letter_and_its_value(name: str, text: str) -> None:
    (flag,) = (flag for flag in FLAGS if flag.long == name)

    assert spelled(flag) == text


def test_the_reference_has_a_row_for_each_flag() -> None:
    rows = [line for line in reference().splitlines() if line.startswith("| `")]

    assert len(rows) == len(FLAGS)
    assert "| `--multiline, -U" not in reference()
    assert "Undo: `--no-hidden`." in reference()


def test_without_arguments_a_few_lines_are_enough() -> None:
    assert "triseek search --help" in SHORT
    assert len(SHORT.splitlines()) < 12
