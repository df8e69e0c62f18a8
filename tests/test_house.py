"""The figures of the source code count what they say."""

from __future__ import annotations

from tests import house

SOURCE = '''"""A module."""

LIMIT = 3
"""A docstring of a constant."""


class Public:
    """A class.

    Of two paragraphs.
    """

    text: str = "a string" """
    in two lines"""  # with a comment

    # A comment.
    def method(self) -> dict[str, Any]:
        return {}


class _Private: ...
'''


def test_docstrings_comments_and_blank_lines_are_no_code():
    assert house.code_lines(SOURCE) == 7


def test_a_checkout_has_figures(tmp_path):
    (tmp_path / "triseek/wing").mkdir(parents=True)
    (tmp_path / "tests").mkdir()
    (tmp_path / "triseek/__init__.py").touch()
    for name in ("tested", "untested"):
        (tmp_path / f"triseek/wing/{name}.py").write_text(SOURCE)
    (tmp_path / "tests/test_tested.py").touch()

    assert house.figures(tmp_path) == {
        "files": 3,
        "lines": 2 * SOURCE.count("\n"),
        "code lines": 14,
        "bare dict[str, Any]": 2,
        "names of several public classes": 1,
        "files under 60 lines": 2,
        "modules without a test of their name": 1,
    }
