"""Diffs are right where they are given, and given only where they are short."""

from __future__ import annotations

import subprocess

from hypothesis import given, settings
from hypothesis import strategies as st

from triseek.memo.difference import BYTES_MAX, LINES_MAX, between

LINES = [f"line {number}" for number in range(1, 301)]


def text(lines):
    return "".join(line + "\n" for line in lines).encode()


def changed(*numbers):
    return [line + "!" if place in numbers else line for place, line in enumerate(LINES, 1)]


def test_a_diff_is_as_diff_writes_it():
    assert between(text(LINES), text(changed(150)), "src/a.py") == (
        "--- a/src/a.py\n+++ b/src/a.py\n@@ -147,7 +147,7 @@\n"
        " line 147\n line 148\n line 149\n-line 150\n+line 150!\n line 151\n line 152\n line 153\n"
    )


def test_equal_texts_have_none():
    assert between(text(LINES), text(LINES), "a") is None


def test_a_last_line_without_end_is_told():
    assert between(b"a\n", b"a", "f") == (
        "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n"
    )


def test_too_many_lines_or_bytes_are_none():
    most = LINES_MAX // 2 - 8
    assert between(text(LINES), text(changed(*range(1, most))), "a")
    assert between(text(LINES), text(changed(*range(1, most + 20))), "a") is None
    assert between(b"", b"x" * BYTES_MAX, "a") is None


def test_names_cannot_break_out_of_the_head():
    assert between(b"a\n", b"b\n", "x\n+++ y").startswith("--- a/x?+++ y\n+++ b/x?+++ y\n@@")


def test_what_would_take_long_is_none():
    same = b"\n" * 50_000
    assert between(b"a\n" + same + b"a\n", b"b\n" + same + b"b\n", "f") is None


@settings(derandomize=True, max_examples=30, deadline=None)
@given(
    st.lists(st.sampled_from("abcd"), max_size=30), st.lists(st.sampled_from("abcd"), max_size=30)
)
def test_git_applies_every_diff(tmp_path_factory, before, after):
    diff = between(text(before), text(after), "f")
    if diff is None:
        assert before == after
        return
    folder = tmp_path_factory.mktemp("diff")
    (folder / "f").write_bytes(text(before))
    subprocess.run(
        ["git", "apply", "--unidiff-zero", "-"], cwd=folder, input=diff.encode(), check=before != []
    )
    if before and after:
        assert (folder / "f").read_bytes() == text(after)
