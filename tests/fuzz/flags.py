"""Random combinations of flags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fuzz.case import BASE, ROOT
from tests.fuzz.trees import glob_for
from tests.strategies_trees import make_glob

if TYPE_CHECKING:
    from random import Random

    from tests.fuzz.case import Tree

Flag = tuple[str, ...]

SHOW: list[Flag] = [
    ("-n",), ("-n",), ("-n",), ("-N",), ("-H",), ("-I",), ("-b",), ("--column",), ("--vimgrep",),
    ("--heading",), ("--no-heading",), ("-A", "#"), ("-B", "#"), ("-C", "#"), ("-C", "1"),
    ("-o",), ("-o",),
    ("-r", "R"), ("-r", "R"), ("-M", "##"), ("--max-columns-preview",), ("--trim",), ("-0",),
    ("--passthru",), ("--json",), ("--json",), ("--stats",), ("-c",), ("-c",),
    ("--count-matches",),
    ("--count-matches",), ("-l",), ("-l",), ("--files-without-match",), ("--include-zero",),
    ("-q",),
    ("-m", "#"), ("-m", "#"), ("--context-separator", "=="), ("--no-context-separator",),
    ("--field-match-separator", "::"), ("--field-context-separator", r"\t"),
    ("--path-separator", "+"),
    ("--color", "always"), ("--color", "ansi"), ("--colors", "match:fg:blue"), ("-p",),
    ("--line-buffered",),
    ("--sort", "path"), ("--no-line-number",), ("--no-filename",), ("--no-messages",),
    ("--no-column",),
]  # fmt: skip
MATCH: list[Flag] = [
    ("-i",), ("-i",), ("-s",), ("-S",), ("-w",), ("-w",), ("-x",), ("-v",), ("-v",), ("-F",),
    ("-U",),
    ("-U",), ("-U",), ("--multiline-dotall",), ("-a",), ("-a",), ("--binary",), ("--crlf",),
    ("--no-unicode",), ("--mmap",), ("--no-mmap",), ("-uuu",), ("--no-binary",), ("--no-text",),
]  # fmt: skip
SCOPE: list[Flag] = [
    ("-g", "G"), ("-g", "G"), ("-g", "G"), ("-g", "G"), ("--iglob", "G"),
    ("--glob-case-insensitive",),
    ("-t", "T"), ("-T", "T"), ("--type-add", "odd:*.x"), ("--type-clear", "c"), ("--hidden",),
    ("--hidden",),
    ("--no-ignore",), ("--no-ignore-vcs",), ("--no-ignore-parent",), ("--no-ignore-dot",),
    ("--no-ignore-exclude",), ("--no-ignore-global",), ("--no-ignore-files",),
    ("--no-require-git",),
    ("-u",), ("-uu",), ("-L",), ("-L",), ("--max-depth", "#"), ("--max-filesize", "S"),
    ("--ignore-file", "I"), ("--ignore-file", "I"), ("--one-file-system",),
]  # fmt: skip
TYPES = ["c", "rust", "py", "make", "js", "all", "minified", "h", "txt", "md", "odd", "nosuch"]
REPLACEMENTS = [
    "",
    "X",
    "[$0]",
    "$1",
    "[$1][$2]",
    "${n}",
    "$n",
    "$$",
    "$1é",
    "a\nb",
    "$0$0",
    "${1}x",
    "$2,$1",
    "$9",
]


def make_flags(random: Random, tree: Tree, cwd: bytes) -> tuple[Flag, ...]:
    """Some flags for a search, in random order."""
    flags = random.sample(SHOW, random.choice([0, 1, 1, 2, 2, 3]))
    flags += random.sample(MATCH, random.choice([0, 0, 1, 1, 2, 3]))
    flags += random.sample(SCOPE, random.choice([0, 0, 0, 1, 1, 2]))
    random.shuffle(flags)
    return tuple(_filled(random, flag, tree, cwd) for flag in flags)


def make_list_flags(random: Random, tree: Tree, cwd: bytes) -> tuple[Flag, ...]:
    """Flags for a list of files."""
    flags = [("--files",), *random.sample(SCOPE, random.choice([0, 1, 1, 2, 3]))]
    flags += random.sample([("-0",), ("-q",), ("--path-separator", "+"), ("--stats",), ("-n",)],
                           random.choice([0, 0, 0, 1]))  # fmt: skip
    random.shuffle(flags)
    return tuple(_filled(random, flag, tree, cwd) for flag in flags)


def _filled(random: Random, flag: Flag, tree: Tree, cwd: bytes) -> Flag:
    """The flag with a value in place of its sign."""
    if len(flag) == 1:
        return flag
    name, sign = flag
    values = {
        "#": lambda: str(random.choice([0, 1, 1, 2, 3, 5])),
        "##": lambda: str(random.choice([0, 1, 3, 5, 8, 10, 20, 100])),
        "R": lambda: random.choice(REPLACEMENTS),
        "G": lambda: _glob(random, tree, cwd),
        "T": lambda: random.choice(TYPES),
        "S": lambda: random.choice(["0", "10", "100", "1K", "70000"]),
        "I": lambda: random.choice(
            [f"{BASE}/rules", f"{BASE}/up/root/.gitignore", f"{BASE}/nowhere", "../rules"]
        ),
    }
    value = values[sign]() if sign in values else sign
    return (
        (f"{name}={value}",)
        if name.startswith("--")
        else (f"{name}{value}",)
        if value
        else (name, value)
    )


def _glob(random: Random, tree: Tree, cwd: bytes) -> str:
    negation = "!" if random.random() < 0.35 else ""
    if random.random() < 0.3:
        return negation + make_glob(random)
    paths = [entry.path for entry in tree.entries]
    here = [path[len(cwd) + 1 :] for path in paths if path.startswith(cwd + b"/")]
    below = [path[len(ROOT) + 1 :] for path in paths if path.startswith(ROOT + b"/")]
    path = random.choice((here if random.random() < 0.7 else below) or below or [b"a"])
    return negation + glob_for(random, path.decode(errors="replace"))
