"""Random queries from a seed: such as people type, and such as nobody would."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

WORDS = (
    *("kelvin", "straße", "istanbul", "σίσ", "ǆ", "k", "s", "i"),
    *("alpha", "Alpha", "ALPHA", "needle", "lexer", "Token", "import", "return self", "foo", "or"),
    *("σς", "größe", "café", "ab", "a", "x", "_", "class", "pattern", "without end", "bad", "text"),
    *('a.b("x")', "-dash", "meta.json", "f:x", "日本", "byte here", "aa", "foofoo", "\\", "()"),
)
REGEXPS = (
    *(
        r"al.ha",
        r"\bfoo\b",
        r"^alpha",
        r"end$",
        r"[A-Z]\w+Lexer",
        r"import\s+\w+",
        r"a{2,4}",
        "(ab)+",
    ),
    *(r"foo|bar", r"Token|token", r"(foo)+", r"[^a-z\s]{3}", r"\d+\.\d+", r"\S+_\S+", r"(?i)alpha"),
    *(
        r"alpha\s",
        r"\s\s\s+alpha",
        r"line\n",
        r"(?s)first.*last",
        r"\x61lpha",
        r"\pLlpha",
        r"\p{Greek}+",
    ),
    *(
        r"a.*?a",
        r"\Aalpha",
        r"e\z",
        r"\Qa.b(\E",
        r"[[:upper:]]{4}",
        r"(?:)",
        r"\w",
        "^$",
        "x*",
        "b|",
    ),
)
NAMES = (r"\.txt$", r"\.py", "lexer", "UPPER", r"^docs/", "name", "or", r"\.md$", "[A-Z]", "regex/")
REPOSITORIES = ("hostile", "^triseek", "lexers$", "nothing", ".", "Hostile")
LANGUAGES = ("python", "Markdown", "Text", "c", "json", "nosuch")
_PIECES = (
    *(
        "(",
        ")",
        " ",
        " ",
        "-",
        '"',
        "\\",
        "or",
        " or ",
        "|",
        "[",
        "]",
        "*",
        "+",
        "?",
        "{2}",
        "a",
        "B",
    ),
    *(
        "case:",
        "yes",
        "no",
        "auto",
        "type:",
        "file",
        "repo",
        "sym:",
        "f:",
        "r:",
        "lang:",
        "b:",
        "c:",
    ),
    *(
        "meta.",
        "x",
        "^",
        "$",
        ".",
        "\t",
        "\n",
        "é",
        "[a-",
        "(?",
        "(?i)",
        "\\b",
        "\\p{L}",
        ":",
        "archived:",
    ),
)


def searches(random: Random, count: int) -> list[str]:
    """Return queries that are accepted."""
    return [_alternatives(random, 2) for _ in range(count)]


def scraps(random: Random, count: int) -> list[str]:
    """Return texts most of which are refused."""
    return ["".join(random.choices(_PIECES, k=random.randint(1, 7))) for _ in range(count)]


def _alternatives(random: Random, depth: int) -> str:
    lists = [_terms(random, depth) for _ in range(1 + (random.random() < 0.2))]
    return " or ".join(lists)


def _terms(random: Random, depth: int) -> str:
    terms = [_term(random, depth) for _ in range(random.choice((1, 1, 2, 2, 3)))]
    if random.random() < 0.15:
        terms.append(f"case:{random.choice(('yes', 'no', 'auto'))}")
    if random.random() < 0.08:
        terms.append(f"type:{random.choice(('file', 'filematch'))}")
    return " ".join(terms)


def _term(random: Random, depth: int) -> str:
    kind = random.random()
    if kind < 0.1 and depth:
        return f"({_alternatives(random, depth - 1)} )"
    if kind < 0.18:
        return f"-{_term(random, 0)}"
    if kind < 0.28:
        return f"f:{random.choice(NAMES)}"
    if kind < 0.36:
        return f"r:{random.choice(REPOSITORIES)}"
    if kind < 0.4:
        return f"lang:{random.choice(LANGUAGES)}"
    field = random.choice(("", "", "", "c:", "content:", "regex:", "f:"))
    if kind < 0.7:
        return f"{field or 'regex:'}{_quoted(_escaped(random.choice(WORDS)))}"
    return f"{field}{_typed(random.choice(REGEXPS))}"


def _typed(pattern: str) -> str:
    return _quoted(pattern) if " " in pattern else pattern


def _escaped(text: str) -> str:
    return "".join("\\" + sign if sign in r"\.+*?()|[]{}^$" else sign for sign in text)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
