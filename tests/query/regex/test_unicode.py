"""The tables against Python's own, which knows Unicode 14 (3.11) or later."""

import subprocess
import sys
import unicodedata

import pytest

from triseek.query.regex import charset, unicode

PYTHON_AGE = unicodedata.unidata_version.rsplit(".", 1)[0]
SHORT_CATEGORIES = [
    *("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe"),
    *("Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Co"),
]
CHANGED = {0x1171E}
"""Characters whose general category changed between Unicode 14 and 16."""


def known_to_both():
    """Every character that means the same to Python and to the tables."""
    try:
        ranges = unicode.lookup_value("age", PYTHON_AGE)
    except unicode.UnknownPropertyError:  # a Python newer than the tables
        ranges = unicode.lookup_value("age", unicode.VERSION.rsplit(".", 1)[0])
    return {code for low, high in ranges for code in range(low, high + 1)} - CHANGED


@pytest.fixture(scope="module")
def known():
    return known_to_both()


def members(ranges):
    return {code for low, high in ranges for code in range(low, high + 1)}


@pytest.mark.parametrize("category", SHORT_CATEGORIES)
def test_general_categories_are_those_of_python(category, known):
    got = members(unicode.lookup(category)) & known

    assert got == {code for code in known if unicodedata.category(chr(code)) == category}


def test_word_characters_are_alphabetic_marks_digits_connectors_and_joiners():
    expected = set()
    for name in ("Alphabetic", "M", "Nd", "Pc", "Join_Control"):
        expected |= members(unicode.lookup(name))

    assert members(unicode.perl_class("word")) == expected


def test_white_space_is_what_rust_says():
    expected = {*range(9, 14), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B)}
    expected |= {0x2028, 0x2029, 0x202F, 0x205F, 0x3000}

    assert members(unicode.perl_class("space")) == expected


def test_uppercase_is_what_python_says(known):
    got = members(unicode.lookup("Uppercase")) & known

    assert got == {code for code in known if chr(code).isupper()}


@pytest.mark.parametrize(
    ("character", "orbit"),
    [
        ("k", "Kk\u212a"),
        ("K", "Kk\u212a"),
        ("\u212a", "Kk\u212a"),
        ("s", "Ss\u017f"),
        ("\u017f", "Ss\u017f"),
        ("σ", "Σσς"),
        ("ß", "ßẞ"),
        ("é", "Éé"),
        ("å", "Åå\u212b"),
        ("µ", "µΜμ"),
        ("i", "Ii"),  # neither dotted nor dotless i of Turkish
        ("İ", "İ"),
        ("1", "1"),
        ("日", "日"),
    ],
)
def test_simple_folding_knows_the_whole_orbit(character, orbit):
    code = ord(character)

    assert members(unicode.fold(((code, code),))) == set(map(ord, orbit))


def test_simple_folding_agrees_with_pythons_lower_case_where_that_is_one_character(known):
    for code in known:
        lower = chr(code).lower()
        if len(lower) == 1 and lower != chr(code) and lower.upper() == chr(code):
            assert ord(lower) in members(unicode.fold(((code, code),)))


def test_folding_twice_changes_nothing():
    once = unicode.fold(unicode.lookup("Greek"))

    assert unicode.fold(once) == once


def test_ascii_folding_leaves_the_kelvin_sign_alone():
    assert members(unicode.fold_ascii(((0x6B, 0x6B),))) == {0x4B, 0x6B}


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("greek", "Script=Greek"),
        ("Grek", "sc:grek"),
        ("isGreek", "sc=Greek"),
        ("uppercase letter", "gc=Lu"),
        ("L", "General_Category=Letter"),
        ("LC", "gc=Cased_Letter"),
        ("cf", "gc=Format"),
        ("white-space", "gc=Zs"),
    ],
)
def test_names_are_matched_loosely(name, same):
    got = unicode.lookup(name)

    wanted = unicode.lookup_value(*same.replace(":", "=").split("="))
    assert got == wanted or name == "white-space"
    assert charset.contains(got, 0x20) == (name == "white-space")


@pytest.mark.parametrize("name", ["nonsense", "block", "gc", "Cs", "", "Script_Extensions"])
def test_unknown_names_are_refused(name):
    with pytest.raises(unicode.UnknownPropertyError):
        unicode.lookup(name)


def test_ages_add_up():
    assert charset.contains(unicode.lookup_value("age", "15.0"), 0x41)
    assert not charset.contains(unicode.lookup_value("age", "1.1"), 0x20AC)
    assert charset.contains(unicode.lookup_value("age", "2.1"), 0x20AC)


def test_an_ascii_pattern_reads_no_table():
    program = (
        "import sys\n"
        "from triseek.model.search import PatternSpec\n"
        "from triseek.query.regex import unicode\n"
        "from triseek.query.pattern import compile\n"
        "for case in ('sensitive', 'insensitive', 'smart'):\n"
        "    spec = PatternSpec(patterns=('kmalloc|[a-z]+_RESUME',), case=case, word=True)\n"
        "    assert compile(spec).matches(b'x kmalloc y')\n"
        "sys.exit(unicode._lines.cache_info().currsize)\n"
    )

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
