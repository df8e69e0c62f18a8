"""Text from outside stays within its code span, its line and its quotation."""

from __future__ import annotations

import pytest

from triseek.sessions.markdown_text import code, cut, one_line, quotation, tame


@pytest.mark.parametrize(
    ("text", "span"),
    [("a", "`a`"), ("a`b", "``a`b``"), ("`", "`` ` ``"), ("a\nb", "`a b`"), ("", "`?`")],
)
def test_a_code_span_holds_backticks(text, span):
    assert code(text) == span


def test_a_quotation_quotes_every_line():
    text = "a\n\n# b\n```\n<!-- c\x1b"
    assert list(quotation(text, 99)) == ["> a", ">", "> # b", "> ```", "> &lt;!-- c"]


def test_a_cut_keeps_characters_whole():
    assert cut("abc", 3) == "abc"
    assert cut("éééé", 7) == "éé…"
    assert one_line(" a\n b\u202e ", 9) == "a b"
    assert tame("<b> </pre>") == "<b> &lt;/pre>"
