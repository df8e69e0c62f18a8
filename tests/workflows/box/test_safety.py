# ruff: noqa: E501
"""The safety policy: what it says to authors, to the letter, and what it lets through."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triseek.workflows.box.safety import MAX_SOURCE_BYTES, check

_RUN = "\ndef run(args): return args\n"


def reasons(source: str) -> list[str]:
    """What is wrong with a source to which an entry point is added."""
    return check(source + _RUN)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import os", ["banned_import: os"]),
        ("import os.path", ["banned_import: os.path"]),
        ("from subprocess import run as r", ["banned_import: subprocess"]),
        ("import requests", ["disallowed_import: requests"]),
        ("import random", ["disallowed_import: random"]),
        ("import runtime", ["disallowed_import: runtime"]),
        ("from runtime import os", ["disallowed_import: runtime.os"]),
        ("from runtime.zoekt_tools import os", ["disallowed_import: runtime.zoekt_tools.os"]),
        ("from runtime.zoekt_tools import *", ["disallowed_import: runtime.zoekt_tools.*"]),
        ("from . import x", ["disallowed_import: ."]),
        ("from .runtime import x", ["disallowed_import: .runtime"]),
        ("from json import codecs", ["disallowed_import: json.codecs"]),
        ("import asyncio.subprocess", ["disallowed_import: asyncio.subprocess"]),
        ("open('x')", ["banned_call: open"]),
        ("eval('1'); exec('1'); eval('2')", ["banned_call: eval", "banned_call: exec"]),
        ("__import__('os')", ["banned_call: __import__"]),
        ("x = []\nx.open('a')", ["banned_call: open"]),
        ("compile('1', 'a', 'eval')", ["banned_call: compile"]),
        ("f = open\nf('x')", ["banned_name: open"]),
        ("import os\nimport requests\nopen('a')",
         ["banned_import: os", "disallowed_import: requests", "banned_call: open"]),
        ("x = (", ["syntax_error: '(' was never closed at line 1"]),
        ("x = 1\n\0", ["syntax_error: source code string cannot contain null bytes at line 0"]),
    ],
)  # fmt: skip
def test_messages(source: str, expected: list[str]) -> None:
    assert reasons(source) == expected


def test_the_entry_point_is_at_the_module_s_level() -> None:
    missing = "missing_required_entrypoint: "
    assert check("class A:\n    def run(self): pass") == [
        f"{missing}run(args) or async run(args)",
        f"{missing}parse_args (legacy mode)",
        f"{missing}main (legacy mode)",
        f"{missing}if __name__ == '__main__' (legacy mode)",
    ]
    legacy = "def parse_args(): pass\nasync def main(): pass\nif __name__ == '__main__': main()"
    assert check(legacy) == []
    assert check("def main(): pass\nif '__main__' == __name__: main()") == [
        f"{missing}run(args) or async run(args)",
        f"{missing}parse_args (legacy mode)",
    ]


BENIGN = [
    "from runtime import zoekt_tools\nzoekt_tools.search('x')",
    "import runtime.zoekt_tools as zt\nzt.list_dir('r', depth=1)",
    "import runtime.zoekt_tools\nruntime.zoekt_tools.fetch_content('r', 'p', 1, 2)",
    "from runtime.zoekt_tools import search, list_repos as repos, ZoektRuntimeError",
    "import re\nP = re.compile('x')\nP.sub('', 'y')",
    "from re import findall\nfindall('a', 'b')",
    "import math, json, collections, asyncio, itertools, functools, datetime, statistics",
    "import collections.abc\nx: collections.abc.Iterable = ()",
    "from collections import Counter, defaultdict, namedtuple\nT = namedtuple('T', 'a b')",
    "import asyncio\nasync def f(): return await asyncio.gather(asyncio.to_thread(len, 'x'))",
    "from dataclasses import dataclass, field\n@dataclass(frozen=True)\nclass A:\n    x: int = field(default=0)",
    "class A:\n    def __init__(self): super().__init__(); self._x = 1\n    def __eq__(self, o): return True\n    @property\n    def x(self): return self._x",
    "import functools\n@functools.cache\ndef f(x): return x",
    "x = [a for a in range(3) if a]\ny = f'{x!r:>10}'\nz = '{} {:>3}'.format(1, 2)",
    "type = 'func'\ndir = 'src'\nprint(type, dir)",
    "print(type(1).__name__)",
    "import sys\nprint(sys.argv, file=sys.stderr)\nsys.stdout.write('x')\nsys.exit(0)",
    "import json\ntry:\n    json.loads('x')\nexcept json.JSONDecodeError as e:\n    print(e.msg, e.pos)",
    "import argparse\np = argparse.ArgumentParser()\np.add_argument('--x', type=int)",
    "query = 'file:__init__.py __class__ {braces}'",
    "from __future__ import annotations\nimport typing\nx: typing.Any = 1",
    "import operator\nx = sorted([(1, 2)], key=operator.itemgetter(1))",
    "import datetime as dt\nnow = dt.datetime.now(dt.timezone.utc).isoformat()",
]  # fmt: skip


@pytest.mark.parametrize("source", BENIGN)
def test_benign_scripts_are_accepted(source: str) -> None:
    future, rest = (source, "") if source.startswith("from __future__") else ("", source)
    assert reasons(f"{future}\n{rest}") == []


def test_functions_of_the_host_are_those_that_it_has() -> None:
    source = "from runtime.zoekt_tools import outline" + _RUN
    assert check(source, {"outline"}) == []
    assert check(source) == ["disallowed_import: runtime.zoekt_tools.outline"]


@pytest.mark.parametrize(
    "source",
    [
        "x" * (MAX_SOURCE_BYTES + 1),
        "(" * 5000,
        "-" * 100_000 + "1",
        "x = " + "[" * 190 + "]" * 190 + "\n" + "y" + ".a" * 20_000,
        "9" * 100_000,
        "\ud800",
        "é" * (MAX_SOURCE_BYTES // 2 + 1),
    ],
    ids=range(7),
)
def test_extreme_sources_are_answered(source: str) -> None:
    assert check(source)


@given(st.text(max_size=200))
def test_any_text_is_answered(source: str) -> None:
    assert isinstance(check(source), list)
