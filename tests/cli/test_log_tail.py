"""The end of a log, and what is appended to it."""

from __future__ import annotations

import os

import pytest

from triseek.cli.daemon_verb import LogTail


@pytest.mark.parametrize("count", [0, 1, 3, 999, 5000])
def test_the_last_lines_are_those_of_the_file(count, tmp_path):
    lines = [f"line {number} {'x' * (number % 300)}\n" for number in range(1000)]
    path = tmp_path / "log"
    path.write_text("".join(lines))

    with LogTail(str(path)) as tail:
        assert tail.last(count) == "".join(lines[len(lines) - min(count, 1000) :])


def test_what_follows_is_found_over_a_rotation(tmp_path):
    path = tmp_path / "log"
    path.write_text("one\n")
    with LogTail(str(path)) as tail, path.open("a") as old:
        assert tail.last(5) == "one\n"
        old.write("two\n")
        old.flush()
        os.rename(path, tmp_path / "log.1")
        path.write_text("three\n")
        following = tail.following()

        assert [next(following), next(following)] == ["two\n", "three\n"]


def test_a_log_that_appears_later_is_followed_from_its_start(tmp_path):
    path = tmp_path / "log"
    with LogTail(str(path)) as tail:
        with pytest.raises(FileNotFoundError):
            tail.last(3)
        path.write_text("first\n")

        assert next(tail.following()) == "first\n"
