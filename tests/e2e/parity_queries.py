"""The words of at least 500 searches for a tree: fixed ones, and ones sampled from it."""

from __future__ import annotations

import itertools
import random
import re
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.real_trees import Tree

SEEDS = r"""
(?:foo)bar
(?:async )?def main
(?:non)?zero
(?P<n>imp)ort
(foo)?barbaz
(re)?turn
err(or)?
impl(<T>)?\s+Display
de(f)?\s+__init__
foo(bar)*qux
re(tur)*n
foo|ab
panic|b.
[[:alpha:]]foo
[[:alpha:]]elf
\x41bcd
\x69mport
"""
"""Patterns whose seeds a text-scanning shortcut gets wrong (triseek-behaviour.md, section 3.3)."""

DIALECT = r"""
\<self\>
\<int
\b{start}int
int\b{end}
\p{Greek}
\pL{12}
\P{ASCII}
(?x) im port  # a remark
[a-z&&[^aeiou]]{6}
[\w--_]{20}
[a-z~~aeiou]+x
import\z
\Aimport
(?<n>raise)\s
\u00e9
\x{e9}
a{101}
int\|char
\w{25}
\bif\b
(?i)todo
(?i:ERR)OR
(?U)i.*t
(?m)^class
(?s)import.os
[^\x00-\x7f]
[α-ω]+
[^\s\w]{12}
(?-u:\xe9)
(?-u)\bint\b
\d{4}-\d{2}-\d{2}
\W\w\W
(a|b|c|d)e(f|g)h?
^\s*$
^$
$^
^
\s+$
^#
\.$
.{120}
x*
\t
\\n
\.py\b
"""
"""What engines spell differently (anchors.md, section 4.3), and what is weak."""

BENCHSUITE = r"""
PM_RESUME
[A-Z]+_RESUME
[A-Z]+_ERROR
\wAh
\w{5}\s+\w{5}\s+\w{5}\s+\w{5}\s+\w{5}
ERR_SYS|PME_TURN_OFF|LINK_REQ_RST|CFG_BME_EVT
int|char|void|class
Sherlock Holmes
"""
"""ripgrep's own benchsuite."""

UNICODE = r"""
é
ü
naïve
straße
ς
K
ſ
[à-ÿ]
\w*é\w*
“
→
日本
ﬁ
"""

SHOWN = r"""
-n
-N
-c
--count-matches
-l
--files-without-match
-o
-o -n --column -b
--column
-b
-n -A2
-n -B2
-n -C1
-C3
-m1
-m3 -n
-m2 -A1 -n
-v -c
-v -m2 -n
-w
-w -o
-x
-x -n
-i
-i -c
-S
-S -l
-s
-F
-F -i -n
-F -w -c
-F -x
--json
--json -C1
--json -o
-M40
-M80 -n
-M40 --max-columns-preview
--trim
--trim -n -C1
--vimgrep
--heading -n
--heading -C1
-H -n
-I
-I -n
-0 -l
-0 -c
-l --null
-q
-p
--color=always -n
--color=always -o
--color=always -C1
-r <$0>
-o -r X
--passthru -m1
--no-heading -n --column
--context-separator=== -C1
--field-match-separator=|
-c --include-zero
--crlf
--crlf -o
-U
-U -n -C1
-U -c
-U -o
-P0
--no-ignore -l
--hidden -l
-uu -c
-a -c
--max-depth 2 -l
--max-filesize 8K -c
--sort path -l
-L -c
"""
"""Ways to show and scopes; each is met by several patterns."""

SCOPES = r"""
-g *.py
-g *.h -l
-g !*.py -c
-g **/test*/** -l
-g *.{py,h,txt} -c
-g /*.py -l
-g [a-m]*.py -l
-g !test* -g *.py -c
-g *.PY -l
--iglob *.PY -l
--glob-case-insensitive -g *.H -l
-tpy -c
-tc -l
-Tpy -c
-tpy -Tc -l
-tall -l
-tmd -ttxt -c
--type-add web:*.{html,css,js} -tweb -l
--type-clear py -tpy -l
-tnosuchtype
-g !**/__init__.py -tpy -c
-d1 -n
-d2 -l
"""

MULTILINE = r"""
-U 'import os\nimport'
-U 'import\s+sys'
-U '\{\s*\n'
-U '\n\n\n' -c
-U 'return\s+\w+\n\s*\n' -n
-U '(?s)/\*.{0,80}\*/' -l
-U --multiline-dotall 'if.{0,20}\n.*else' -l
-U '^$\n^$' -n
-U '\s+\n\S' -c
-U 'class \w+:\n\s+pass' -n -A1
-U 'pass\n\n' -o
-U 'import\n' --json
-U -v 'import\s' -c
-U -i 'RAISE\n' --count-matches
"""

TOGETHER = r"""
-e import -e class -n
-e define -e 'include <' -c
-e import -F -e 'def (' -l
-e TODO -e FIXME -e XXX -i -n
-e '\d+' -e '[a-f]+' --count-matches
-e foo -e '' -c
-w -e int -e char -c
--files
--files -g *.py
--files -tpy
--files -d1
--files -Tpy
--files --hidden
--files --no-ignore
--files -0
-c ''
-l .
-c '$'
-i -e 'k' -e 'ſ' -n -m2
'(' -n
'[' -n
'a{2,1}'
'*'
'(?P<x'
'\p{Nope}'
-F '(' -c
-F '[' -m1
-F '\' -c
-F '.*' -n
-F '' -c
-F -e 'a.b' -e '()' -n
-e -n -c
-- -1
-e '--' -m1 -n
'import os' no/such/folder
-n import .
-n import ./
-l class . .
-c 'a{1001}'
'interface{}' -c
'a\{2\}' -c
'import$' --crlf -n
"""


def searches(tree: Tree) -> list[list[str]]:
    """Every search for a tree, without repetition, in a fixed order."""
    choice = random.Random(tree.name)
    seen: dict[tuple[str, ...], None] = {}
    for words in itertools.chain(_fixed(), _sampled(tree, choice), _folders(tree)):
        seen.setdefault(tuple(words))
    return [list(words) for words in seen]


def _lines(table: str) -> list[str]:
    return [line for line in table.splitlines() if line.strip()]


def _patterns() -> list[str]:
    return [line for table in (SEEDS, DIALECT, BENCHSUITE, UNICODE) for line in _lines(table)]


COMMON = ("import", "int", "return", "(?i)error", r"\bclass\b", "self|void", "é", "no such text")
"""Patterns that most trees hold, for the ways to show."""


def _fixed() -> Iterator[list[str]]:
    for number, pattern in enumerate(_patterns()):
        yield ["-n", "-m5", "-e", pattern]
        yield [("-c", "-i", "-w", "-o")[number % 4], "-m50", "-e", pattern]
    rest = itertools.cycle(COMMON)
    for shown in [*_lines(SHOWN), *_lines(SCOPES)]:
        for pattern in itertools.islice(rest, 2):
            yield [*shown.split(), "-e", pattern]
        # Coprime with the eight patterns, so that every way meets different ones.
        next(rest)
    for table in (MULTILINE, TOGETHER):
        yield from map(shlex.split, _lines(table))


def _sampled(tree: Tree, choice: random.Random) -> Iterator[list[str]]:
    """Text of the tree as literals, as regular expressions made from it, and in every case."""
    shown = itertools.cycle(_lines(SHOWN))
    for text in choice.sample(tree.words, min(110, len(tree.words))):
        yield ["-n", "-F", "-e", text]
        yield [*next(shown).split(), "-F", "-e", text]
    for text in choice.sample(tree.words, min(60, len(tree.words))):
        half = len(text) // 2
        made = choice.choice(
            (
                re.escape(text[:half]) + ".*" + re.escape(text[half:]),
                re.escape(text[:half]) + "(" + re.escape(text[half:]) + ")?",
                re.escape(text) + "|" + re.escape(choice.choice(tree.words)),
                "(?i)" + re.escape(text.swapcase()),
                re.sub("[aeiou]", "[aeiou]", re.escape(text)),
                r"\b" + re.escape(text) + r"\b",
                "^" + re.escape(text),
                re.escape(text) + "$",
            )
        )
        yield [choice.choice(("-n", "-c", "-o", "-l", "-in", "-Sn")), "-e", made]


def _folders(tree: Tree) -> Iterator[list[str]]:
    """The same below folders and in files that were named."""
    inside = sorted(
        path.name for path in tree.root.iterdir() if path.is_dir() and path.name[0] != "."
    )
    files = sorted(path.name for path in tree.root.iterdir() if path.suffix in (".py", ".h"))
    for name, pattern in zip(inside[:12], itertools.cycle(COMMON), strict=False):
        yield ["-n", "-m3", "-e", pattern, name]
    if inside and files:
        yield ["-n", "-e", "import", files[0]]
        yield ["-c", "-e", "int", files[0], inside[0]]
        yield ["-l", "-e", "e", inside[-1], *files[:3], "./" + inside[0]]
        yield ["-n", "-g", "*.py", "-e", "import", inside[0] + "/"]
