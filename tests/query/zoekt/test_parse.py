"""The query language: vectors that a real Zoekt has confirmed, and hostile input."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.zoekt_parity.form import form_of
from triseek.errors import InvalidQuery
from triseek.query.zoekt.parse import MOST_BYTES, MOST_DEPTH, parse
from triseek.query.zoekt.simplify import simplify
from triseek.query.zoekt.syntax import And, Branch, Const, Not, Or, Regexp, Substring, Type

ACCEPTED = {
    "abc": 'substr:"abc"',
    "abc def": '(and substr:"abc" substr:"def")',
    "abc or def": '(or substr:"abc" substr:"def")',
    "a b or c d": '(or (and substr:"a" substr:"b") (and substr:"c" substr:"d"))',
    "(ppp qqq or rrr sss)": '(or (and substr:"ppp" substr:"qqq") (and substr:"rrr" substr:"sss"))',
    "((a b) or c d)": '(or (and substr:"a" substr:"b") (and substr:"c" substr:"d"))',
    "(a (b c) or d)": '(or (and substr:"a" substr:"b" substr:"c") substr:"d")',
    "(a b)(c d)": '(and substr:"a" substr:"b" substr:"c" substr:"d")',
    "(a)(b c)": '(and substr:"a" substr:"b" substr:"c")',
    "(abc)(de)": 'substr:"abcde"',
    "(?P<n>a)(?P<n>b)": 'substr:"ab"',
    "((x|y) )": 'regex:"(x|y)"',
    "regex:abc[p-q]": 'regex:"abc[p-q]"',
    "abccase:yes": 'substr:"abccase:yes"',
    "sub-pixel": 'substr:"sub-pixel"',
    'fi"le:bla"': 'substr:"file:bla"',
    r"abc\.\*def": 'substr:"abc.*def"',
    r"a\ b": 'substr:"a b"',
    r"\-a": 'substr:"-a"',
    "a\\\tb": r'substr:"a\tb"',
    "a\0b": r'substr:"a\x00b"',
    "\u00a0a": r'substr:"\u00a0a"',
    "x{00}": 'substr:"x{00}"',
    "x{1}": 'substr:"x"',
    "": "TRUE",
    "( )": "TRUE",
    "()": "TRUE",
    "(?:)|": "TRUE",
    "a{0}": "TRUE",
    "(?i)": "TRUE",
    'file:""': "TRUE",
    "b:": "TRUE",
    "case:yes": "TRUE",
    "type:repo": "TRUE",
    "-( )": "FALSE",
    "lang:": "FALSE",
    "lang:nosuchlanguage": "FALSE",
    "abc lang:nosuchlanguage": "FALSE",
    "()()": 'regex:"()()"',
    "-abc": '(not substr:"abc")',
    "- abc": '(not substr:"abc")',
    "--a": '(not (not substr:"a"))',
    "-a -b": '(and (not substr:"a") (not substr:"b"))',
    "ABC": 'case_substr:"ABC"',
    "ABC case:no": 'substr:"ABC"',
    "É": 'substr:"É"',
    r"\w": r'case_regex:"\\w"',
    r"\W": r'regex:"\\W"',
    "[A-Z]": 'case_regex:"[A-Z]"',
    "[@-Z]|[[-`]": 'regex:"[@-Z]|[[-`]"',
    "abc -f:def case:yes": '(and case_substr:"abc" (not case_file_substr:"def"))',
    "(foo case:yes) bar": '(and case_substr:"foo" substr:"bar")',
    "(case:yes Foo) case:no BAR": '(and case_substr:"Foo" substr:"BAR")',
    "(Foo (bar case:no)) case:yes": '(and case_substr:"Foo" substr:"bar")',
    "((foo bar) case:yes)": '(and case_substr:"foo" case_substr:"bar")',
    "sym:Foo case:no": 'sym:substr:"Foo"',
    "type:repo foo or bar": '(type:repo (or substr:"foo" substr:"bar"))',
    "type:repo type:file foo": '(type:filename substr:"foo")',
    "a (type:file b)": '(and substr:"a" (type:filename substr:"b"))',
    "t:filematch a": '(type:filematch substr:"a")',
    "sym:a(b|d)e": 'sym:regex:"a(b|d)e"',
    "sym:()": 'sym:regex:"()"',
    "c:abc": 'content_substr:"abc"',
    "content:or": 'content_substr:"or"',
    "f:a.c": 'file_regex:"a.c"',
    "r:^x$ abc": '(and repo:^x$ substr:"abc")',
    "b:main abc": '(and branch:"main" substr:"abc")',
    "lang:cpp": "lang:C++",
    'lang:"Emacs Lisp"': "lang:Emacs Lisp",
    "lang:wolfram_language": "lang:Mathematica",
    "archived:yes fork:no public:no": (
        "(and rawConfig:RcOnlyArchived rawConfig:RcNoForks rawConfig:RcOnlyPrivate)"
    ),
    "meta.team:search": "meta.team:search",
    'meta."x y:z"': "meta.x y:z",
    '"or"': 'substr:"or"',
    "(or)": 'substr:"or"',
    "OR": 'case_substr:"OR"',
}

_CLASS = "error parsing regexp: invalid character class range: "
REFUSED = {
    "--": "query: '-' operator needs an argument",
    "-or": "query: '-' operator needs an argument",
    '"abc': "query: unterminated quoted string",
    'a"\\': "query: missing char after \\",
    "a\\": "query: lone \\ at end",
    "case:foo": 'query: unknown case argument "foo", want {yes,no,auto}',
    "archived:maybe": 'query: unknown archived argument "maybe", want {yes,no}',
    "fork:": 'query: unknown fork argument "", want {yes,no}',
    "public:1": 'query: unknown public argument "1", want {yes,no}',
    "type:x": 'query: unknown type argument "x", want {filematch,filename,repo}',
    "sym:": "the sym: atom must have an argument",
    'sym:""': "the sym: atom must have an argument",
    "or": "query: OR operator should have operand",
    "abc or": "query: OR operator should have operand",
    "or abc": "query: OR operator should have operand",
    "def or or abc": "query: OR operator should have operand",
    "( or )": "query: OR operator should have operand",
    "(a b": "query: missing close paren, got token <nil>",
    '"("': "query: missing close paren, got token <nil>",
    "a)": 'query: extra tokens found at end input: ")"',
    "foo\nbar": r'query: extra tokens found at end input: "\nbar"',
    '""': r'query: extra tokens found at end input: "\"\""',
    "meta.json": 'query: invalid meta field syntax "json"',
    "meta.a:(": "query: invalid regexp in meta value: error parsing regexp: missing closing ): `(`",
    "a[": "error parsing regexp: missing closing ]: `[`",
    "r:(": "error parsing regexp: missing closing ): `(`",
    'a"("b c': "error parsing regexp: missing closing ): `a(b`",
    'a")"': "error parsing regexp: unexpected ): `a)`",
    '"a\\\\"': "error parsing regexp: trailing backslash at end of expression: ``",
    "*a": "error parsing regexp: missing argument to repetition operator: `*`",
    "a**": "error parsing regexp: invalid nested repetition operator: `**`",
    "x{1001}": "error parsing regexp: invalid repeat count: `{1001}`",
    "x{2,1}": "error parsing regexp: invalid repeat count: `{2,1}`",
    "(x{500}){3}": "error parsing regexp: invalid repeat count: `{3}`",
    "(?<=a)b": "error parsing regexp: invalid named capture: `(?<=a)b`",
    "(?P=n)": "error parsing regexp: invalid or unsupported Perl syntax: `(?P`",
    r"\C": r"error parsing regexp: invalid escape sequence: `\C`",
    r"\18": r"error parsing regexp: invalid escape sequence: `\1`",
    r"\xg1": r"error parsing regexp: invalid escape sequence: `\xg1`",
    r"\x{110000}": r"error parsing regexp: invalid escape sequence: `\x{110000`",
    r"[a-\d]": r"error parsing regexp: invalid escape sequence: `\d`",
    "[z-a]": _CLASS + "`z-a`",
    "[[:foo:]]": _CLASS + "`[:foo:]`",
    r"\p{Grek}": _CLASS + r"`\p{Grek}`",
    r"\p{Alphabetic}": _CLASS + r"`\p{Alphabetic}`",
}


@pytest.mark.parametrize("query", ACCEPTED)
def test_query_is_accepted(query: str) -> None:
    assert form_of(parse(query)) == ACCEPTED[query]


@pytest.mark.parametrize("query", REFUSED)
def test_query_is_refused_with_zoekts_message(query: str) -> None:
    with pytest.raises(InvalidQuery) as refused:
        parse(query)
    assert refused.value.message == REFUSED[query]
    assert "reference/query-language.md" in refused.value.next_step


def test_text_that_ignores_case_by_itself_is_no_literal() -> None:
    """Zoekt reads `(?i)abc` as the literal `ABC`; the empty group keeps it from doing so."""
    assert parse("(?i)abc") == Regexp("(?i:ABC)(?:)", case_sensitive=True)
    assert parse("[Aa]1") == Regexp("(?i:A)1(?:)", case_sensitive=True)
    assert parse("(?i)12") == Substring("12", case_sensitive=False)


@pytest.mark.parametrize("query", ["-type:repo", "-case:yes", "a (-case:no b)"])
def test_negated_directive_is_refused(query: str) -> None:
    with pytest.raises(InvalidQuery, match="applies to a whole list and cannot be negated"):
        parse(query)


HOSTILE = {
    "parentheses": "(" * 99_999,
    "groups": "( " * 49_999,
    "closed groups": "( " * 2000 + "a " + ") " * 2000,
    "negations": "-" * 99_999 + "a",
    "quotes": '"' * 99_999,
    "classes": "[a" * 40_000,
    "nested repetition": "(" * 900 + "a{2}" + "){1}" * 900,
    "properties": r"\pL" * 30_000,
    "alternatives": "a|" * 49_999,
    "megabyte": "x" * 1_000_001,
    "surrogate": "a\ud800b",
    "huge count": "a{" + "9" * 50_000 + "}",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_query_is_answered_at_once(name: str) -> None:
    started = time.process_time()
    message = _message(HOSTILE[name])
    assert time.process_time() - started < 5
    assert "\n" not in message
    assert len(message) < 1000


def _message(query: str) -> str:
    """Return why a query is refused; "" if it is not. What is accepted is simplified already."""
    try:
        tree = parse(query)
    except InvalidQuery as refused:
        return refused.message
    assert simplify(tree) == tree
    return ""


def test_limits_are_said() -> None:
    with pytest.raises(InvalidQuery, match="longer than 100,000 bytes"):
        parse("é" * (MOST_BYTES // 2 + 1))
    with pytest.raises(InvalidQuery, match="more than 100 groups or negations"):
        parse("-" * (MOST_DEPTH + 1) + "a")
    assert isinstance(parse("-" * MOST_DEPTH + "a"), Not)
    with pytest.raises(InvalidQuery, match="not valid UTF-8"):
        parse("a\udcffb")


@given(st.text(alphabet='ab()"\\ \t\n-:|[]*+?{}1,or.^$ftcrsymeéK\0', max_size=40))
def test_any_text_is_parsed_or_refused_in_a_line(text: str) -> None:
    assert "\n" not in _message(text)


def test_constants_are_folded() -> None:
    a, true, false = Substring("a", case_sensitive=False), Const(value=True), Const(value=False)
    assert simplify(And((a, true))) == a
    assert simplify(And((a, false))) == false
    assert simplify(Or((a, true))) == true
    assert simplify(Or((Or((a, Branch("b"))), false, And((a,))))) == Or((a, Branch("b"), a))
    assert simplify(Not(And(()))) == false
    assert simplify(Type("repo", Or(()))) == false
