"""The real ripgrep, asked the same: what it accepts, which lines match, and where in them."""

import json
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import rg
from tests.query.strategies_patterns import lines as random_lines
from tests.query.strategies_patterns import patterns as random_patterns
from triseek.errors import InvalidQuery
from triseek.model.search import PatternSpec
from triseek.query.pattern import Pattern

pytestmark = pytest.mark.rg

TEXTS = [
    *("", "foo", "Foo", "FOO", "foobar", "foo bar", "foo_bar", "foo.bar", "foo|bar", "foo(bar)"),
    *("  foo", "foo  ", "a", "ab", "aab", "abc", "aaa", "b", "xyz", "1", "12 345", "x1", "_", "-"),
    *("fn main() {", "async fn main", "impl<T> Display for X", "impl Display", "foobarbarqux"),
    *("err", "error", "panic!", "barbaz", "foobarbaz", "interface{}", "a{,3}", "{}", "x{2}"),
    *("<foo>", "a\\b", "a.b", "a/b", "$HOME", "^x", "[0]", "a-b", "a&b", "a~b", "a b\tc", "#c"),
    *("é", "naïve café", "éfoo", "fooé", "foo é", "ΑΒΓ αβγ ς σ Σ", "Straße STRASSE straſſe"),
    *(
        "\u212aelvin kelvin",
        "日本語 text",
        "x\u0301 y",
        "\U0001f600 ok",
        "ﬁ ǅ ß ẞ",
        "٣ 3",
        "a\u00a0b",
    ),
    *("PM_RESUME", "ERR_SYS|PME_TURN_OFF", "kmalloc(kzalloc)", "static int foo_probe(struct x)"),
    *("ABCD", "Abcd", "\x0b\x0c", "a\x00b", "tab\there", "İstanbul ısı", "x" * 70, "ab" * 30),
]
RAW = [b"bad \xff byte", b"\xc3", b"x\xc3\xa9\x80y", b"foo\xff", b"\xfffoo", b"\xed\xa0\x80 foo"]
CRLF = [b"foo\r", b"foo bar\r", b"a\rb", b"\r"]
DATA = b"\n".join([text.encode() for text in TEXTS] + RAW + CRLF) + b"\n"

PATTERNS = r"""
foo
foo|bar
(?:foo)bar
(?:async )?fn main
(?P<n>abc)def
(?<n>foo)bar
(foo)?barbaz
err(or)?
impl(<T>)?\s+Display
foo(bar)*qux
foo|ab
panic|b.
[[:alpha:]]foo
[[:alpha:]]+
[[:^alpha:]]
[[:word:]--_]
\x41bcd
\x{41}bcd
\u0041bcd
\U00000041bcd
\x{e9}
\u00e9
\xe9
(?-u:\xff)
(?-u:\xc3\xa9)
(?-u:[\x80-\xff]+)
(?-u).
(?-u)\w+
(?-u:[^a])
(?-u)é
(?-u)[é]
(?-u)\pL
(?i)foo
(?i:F)oo
(?i)k
(?i)straße
(?i)strasse
(?i)σ
(?i)[k-s]
(?i)[^k]
(?i)\p{Lu}
(?i)ǆ
(?i)İ
(?i-u)k
fo(?i)O|BAR
(?s).+
(?-m)^foo$
(?U)fo+
(?x) f o o  # comment
(?x)[ a b ]
(?R)foo$
(?R)^
(?m)^foo
.
.*
.+
.?
a*
a+?
a??
a{2}
a{2,}
a{1,2}?
a{0}
a{,3}
a{ 2 }
a{1001}
x{50,70}
a**
a+*
(?:a*)*
(?:a|b)*
(?:|a)+
(?:a|)+
(?:a*?)+?
^
$
^$
^foo
foo$
^foo$
foo^
$a
(?:^|b)a
\bfoo\b
\bfoo
foo\b
\Bfoo
\B
\b
o\B
\<foo\>
\<
\>
\b{start}foo
foo\b{end}
\b{start-half}foo
\b{end-half}
\b{start-half}.
\b{foo}
\b{
\b{2}
(?-u:\b)foo
(?-u:\B)
(?-u:\<)
\w+
\W
\d+
\D
\s
\S+
[\w]
[^\w]
[\d\s]
[\W\d]
\w{5}\s+\w{3}
\wAh
\pL+
\p{L}
\p{Lu}
\P{Lu}
\PL
\p{Greek}
\p{sc=Greek}
\p{Script:Greek}
\p{scx=Latin}
\p{gc=Nd}
\p{gc!=Nd}
\p{White_Space}
\p{Alphabetic}
\p{Uppercase}
\p{Lowercase}
\p{ASCII}
\p{Any}
\P{Any}
\p{Assigned}
\p{age=3.0}
\p{Emoji}
\p{isGreek}
\p{cf}
\p{lc}
\p{Block}
\p{Nope}
\p{sc=Nope}
\p{^Greek}
\p
\p{
[a-z&&[^aeiou]]
[a-z&&aeiou]
[a-z--[aeiou]]
[a-g~~b-h]
[a&&b]
[a&&]
[&&a]
[a&b]
[a-c-e]
[a-c--b-c]
[--a]
[-a]
[a-]
[a-a]
[]a]
[^]a]
[]
[^]
[[]
[[a]
[[a]]
[a[bc]d]
[^a[^b]]
[\]]
[\-a]
[a\-z]
[z-a]
[\d-z]
[a-\d]
[\b]
[\x41-\x43]
[α-ω]
[^α-ω]
[[:foo:]]
[:alpha:]
[[:alpha:]
[é]
[\n]
[\na]
[^\n]
[\s\S]
[^\s\S]
\n
a\n
a|\n
ab|a\n
(a)|(\n)
[ab]c|[ab]\n
\n?
\n{0}
\r
\r?$
\t
\a
\f
\v
\0
\1
\8
(a)\1
\A
\Afoo
foo\z
\z
\Z
\G
\C
\K
\R
\X
\h
\Q
\Qa.b\E
\E
\e
\ca
\N
\y
\i
\é
\%
\"
\'
\/
\:
\;
\@
\`
\ x
\_
\-
\.
\\
\
(
)
()
(|)
(?:)
(?:
a)
a)|(b
(a
(?
(?i
(?i)
(?i)*
(?z)
(?i-)
(?-)
(?--i)
(?ii)
(?i-i)
(?)
(?:a)(?i)
(?=a)
(?!a)
(?<=a)
(?<!a)
(?>a)
(?#c)
(?|a)
(?P=n)
(?P>n)
(?&n)
(?1)
(?R)
(?P<n>a)(?P<n>b)
(?<>a)
(?<1>a)
(?<a.b>a)
(?<é>a)
(?<n
(?P<n>
*
+a
?
|
a|
|a
a||b
a|*
{2}
{
}
{}
interface{}
interface\{\}
x{2
x{2,1}
x{a}
x{2,a}
x{99999999999}
a{2}{3}
a{1,2}*
foo\|bar
foo\.bar
foo.bar
foo\(bar\)
foo(bar)
a++
a*+
a?+
a{2,}+
\$HOME
$HOME
\^x
ERR_SYS|PME_TURN_OFF|LINK_REQ_RST
[A-Z]+_RESUME
kmalloc|kzalloc|kcalloc
static int \w+_probe\(
(?:foo|bar)\s*(?:\(|\.)
^\s*(?:fn|impl)\b
\bfn\b.*\{$
\S+\s\S+
(?:foo|foobar)(?:bar)?
(?:b|ab|aab)+
((a)|b)*
(a|b|ab)(c|bcd)?
日本|本語
[日-語]+
ß|ẞ
\x{1F600}
\x{110000}
\x{D800}
\x{}
\x{g}
\x4
\xZZ
\uD800
\u12
\U0001F600
\x0a
\x00
[\x00-\x1f]
\x{0}
.{3}$
^.{3}$
(?:.)(?:.)\b
""".strip("\n").split("\n")

MODES = [
    {},
    {"case": "insensitive"},
    {"case": "smart"},
    {"word": True},
    {"line": True},
    {"fixed": True},
    {"unicode": False},
    {"crlf": True},
    {"fixed": True, "word": True, "case": "insensitive"},
]
FLAGS = {
    ("case", "insensitive"): "--ignore-case",
    ("case", "smart"): "--smart-case",
    ("word", True): "--word-regexp",
    ("line", True): "--line-regexp",
    ("fixed", True): "--fixed-strings",
    ("unicode", False): "--no-unicode",
    ("crlf", True): "--crlf",
    ("multiline", True): "--multiline",
}


def asked_of_rg(patterns, data, **options):
    """Spans by line number as ripgrep reports them, or `None` where it refuses."""
    flags = [FLAGS[pair] for pair in options.items() if pair in FLAGS]
    given_patterns = [part for pattern in patterns for part in ("-e", pattern)]
    done = subprocess.run(
        [rg.program(), "--no-config", "--json", "--text", *flags, *given_patterns, "-"],
        input=data,
        capture_output=True,
        check=False,
        timeout=60,
    )
    if done.returncode == 2:
        return None
    found = {}
    for line in done.stdout.splitlines():
        message = json.loads(line)
        if message["type"] == "match":
            spans = [(one["start"], one["end"]) for one in message["data"]["submatches"]]
            found[message["data"]["line_number"]] = spans
    return found


def asked_of_us(patterns, data, **options):
    """The same from `Pattern`."""
    try:
        pattern = Pattern(PatternSpec(patterns=tuple(patterns), **options))
    except InvalidQuery:
        return None
    found = {}
    for number, line in enumerate(data.split(b"\n")[:-1], 1):
        body = line.removesuffix(b"\r") if options.get("crlf") else line
        if spans := pattern.spans(body):
            found[number] = spans
    return found


def notes(pattern, **options):
    try:
        return Pattern(PatternSpec(patterns=(pattern,), **options)).notes
    except InvalidQuery:
        return ()


def compare(pattern, **options):
    theirs = asked_of_rg([pattern], DATA, **options)
    ours = asked_of_us([pattern], DATA, **options)
    if theirs is None and notes(pattern, **options):
        return  # the one difference: `{` that starts no repetition is text here
    if options.get("crlf") and (r"\z" in pattern or "(?-m)" in pattern):
        return  # rg --crlf takes no LF alone off a line before it asks for \z: a fault of its own
    if options.get("word") and pattern == "(?R)^":
        return  # rg finds lines with their LF but spans without, and between CR and LF they differ
    if (r"\A" in pattern or "(?-m)" in pattern) and theirs:
        # rg finds the line, but looks for the span in its whole buffer, where the line is not at
        # the start; so later lines are reported without spans.
        theirs, ours = dict.fromkeys(theirs), dict.fromkeys(ours)
    assert ours == theirs


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_means_what_it_means_to_ripgrep(pattern):
    compare(pattern)


@pytest.mark.slow
@pytest.mark.parametrize("options", MODES[1:], ids=str)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_flags_mean_what_they_mean_to_ripgrep(pattern, options):
    compare(pattern, **options)


@pytest.mark.parametrize("options", MODES, ids=str)
def test_several_patterns_are_one_question(options):
    patterns = ["foo|ba", r"b\.?a", "(?i)KELVIN", "σ"]
    ours = asked_of_us(patterns, DATA, **options)

    assert ours == asked_of_rg(patterns, DATA, **options)
    assert ours is not None


def test_the_list_is_long_enough_to_mean_something():
    assert len(set(PATTERNS)) >= 300


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    random_patterns(),
    st.sampled_from(MODES),
    st.lists(random_lines, min_size=10, max_size=40),
)
def test_random_patterns_match_random_lines_as_in_ripgrep(pattern, options, lines):
    data = b"".join(line.removesuffix(b"\r") + b"\n" for line in lines)

    ours = asked_of_us([pattern], data, **options)

    assert ours == asked_of_rg([pattern], data, **options)


@pytest.mark.parametrize(
    "pattern",
    [r"foo\n", r"a\s+b", "(?s)foo.*bar", r"o$\n^F", r"\w+\W+\w+", "[^x]{3}", r"\n\n", r"é\n"],
)
def test_across_lines_the_matches_are_those_of_ripgrep(pattern):
    data = "foo\nFoo bar\n\n\na\nb é\nx\n".encode()
    done = subprocess.run(
        [rg.program(), "--no-config", "--json", "--multiline", pattern, "-"],
        input=data,
        capture_output=True,
        check=False,
    )
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    matches = [message["data"] for message in messages if message["type"] == "match"]
    theirs = [
        (match["absolute_offset"] + one["start"], match["absolute_offset"] + one["end"])
        for match in matches
        for one in match["submatches"]
    ]

    found = Pattern(PatternSpec(patterns=(pattern,), multiline=True))

    assert list(found.finditer(data)) == theirs
