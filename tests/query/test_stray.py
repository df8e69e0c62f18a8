import json
import subprocess

import pytest

from tests import rg
from triseek.engine.search.backends import lines
from triseek.engine.search.query import Query
from triseek.model.search import PatternSpec, SearchRequest
from triseek.query import stray
from triseek.query.pattern import Pattern

TEXTS = [
    b"\n\x9fe\n",
    b"e\n\x9f\n",  # the line before does not match, so its end is seen
    b"\nabc\n\x9f\n-\n\x9f \n",
    b"k abc\n\xa9-x x\n",
    b"k\nkk\n\xa9-\n\x80-\n",
    b"\xc5\xbf\n\xa9- \n",  # a newline within the first three bytes
    b"\n\x80\nk-b\n",
    b"-abc\n\x80-",  # no newline at the end
    b"foo bar\n\x9ffoo\n",
    b"zz zz\n\x9ffoo x\n",
    b"abc\n\x9f\xff\r\n\xa9\r\n",
]
PATTERNS = [
    "x*?|é", "[ab]?", r"\B", r"\b{start-half}", r"\w", r"\S", r"[^\w]", "foo", r"\Bfoo", "日|",
    r"(?-u:.)", r"(?-u:\B)", r"\b", "^", "$",
]  # fmt: skip


@pytest.fixture
def told(tmp_path):
    """Every line ripgrep finds in every text, and where in it: {text: [(offset, spans)]}."""

    def ask(pattern, *flags):
        for number, text in enumerate(TEXTS):
            (tmp_path / f"{number:02}").write_bytes(text)
        command = [rg.program(), "--no-config", "--json", *flags, "-e", pattern, "./"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
        found = [[] for _ in TEXTS]
        for line in map(json.loads, done.stdout.splitlines()):
            if line["type"] == "match":
                data = line["data"]
                spans = [(one["start"], one["end"]) for one in data["submatches"]]
                number = int(data["path"]["text"].removeprefix("./"))
                found[number].append((data["absolute_offset"], spans))
        return found

    return ask


def ours(text, pattern, request):
    rows = lines.rows_of(text, Query("/", request, pattern)).rows
    found = []
    for begin, end in zip(rows["begin"].tolist(), rows["end"].tolist(), strict=True):
        line = text[begin:end]
        body = lines.body(line, crlf=pattern.spec.crlf)
        spans = pattern.spans(body, behind_line=stray.sees_back(line, begin))
        found.append((begin, [span for span in spans if span[0] < len(line)]))
    return found


@pytest.mark.rg
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize(
    "options", [{}, {"word": True}, {"word": True, "crlf": True}, {"word": True, "case": "smart"}]
)
def test_lines_that_begin_with_stray_bytes_match_as_in_ripgrep(told, pattern, options):
    flags = {"word": "-w", "crlf": "--crlf", "case": "-S"}
    spec = PatternSpec(patterns=(pattern,), **options)
    request = SearchRequest(pattern=spec)

    expected = told(pattern, *(flags[name] for name in options))

    assert [ours(text, Pattern(spec), request) for text in TEXTS] == expected


def test_what_stands_before_a_stray_byte_is_the_line_end_where_it_is_seen():
    pattern = Pattern(PatternSpec(patterns=(r"\b{start-half}",)))

    assert pattern.spans(b"\x9f ", behind_line=True) == [(0, 0), (1, 1), (2, 2)]
    assert pattern.spans(b"\x9f ") == [(0, 0), (2, 2)]
    assert pattern.matches(b"\x9f", behind_line=True)
    assert Pattern(PatternSpec(patterns=("[ab]?",), word=True)).matches(b"\x9f", behind_line=True)
    assert not Pattern(PatternSpec(patterns=("[ab]?",), word=True)).matches(b"\x9f")


def test_only_patterns_that_look_back_mind():
    def minds(pattern, **options):
        return stray.sees_line_before(Pattern(PatternSpec(patterns=(pattern,), **options)))

    assert minds(r"\B")
    assert minds("x?", word=True)
    assert not any(map(minds, (r"\bx", "x?", r"(?-u:\B)")))
    assert not minds("foo", word=True)  # ripgrep looks for foo, then at the line alone
    assert minds("foo", word=True, multiline=True)
