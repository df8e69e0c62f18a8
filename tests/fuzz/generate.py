"""Cases by number: case N of seed S is always the same, and is made without those before it."""

from __future__ import annotations

import os
from random import Random
from typing import TYPE_CHECKING

from tests.fuzz.case import BASE, ROOT, Case
from tests.fuzz.contents import make_content, text_of
from tests.fuzz.flags import make_flags, make_list_flags
from tests.fuzz.patterns import PatternMaker
from tests.fuzz.trees import make_tree

if TYPE_CHECKING:
    from tests.fuzz.case import Tree

CASES_PER_TREE = 60


def tree_of(seed: int, number: int) -> Tree:
    """The tree of a case."""
    return make_tree(Random(f"{seed}/tree/{number // CASES_PER_TREE}"))


def make_case(seed: int, number: int, tree: Tree | None = None) -> Case:
    """Case `number` of a seed; its tree, where the caller has it already."""
    tree = tree or tree_of(seed, number)
    random = Random(f"{seed}/case/{number}")
    cwd = _cwd(random, tree)
    operands = _operands(random, tree, cwd)
    stdin = make_content(random) if "-" in operands or random.random() < 0.02 else None
    if random.random() < 0.1:
        return Case(tree, cwd, make_list_flags(random, tree, cwd), (), operands)
    flags = make_flags(random, tree, cwd)
    names = {flag[0] for flag in flags}
    maker = PatternMaker(random, [text_of(data) for data in _searched(tree)])
    count = random.choices([1, 2, 3], [16, 2, 1])[0]
    fixed = "-F" in names
    patterns = tuple(
        maker.fixed() if fixed else maker.make(multiline="-U" in names) for _ in range(count)
    )
    return Case(tree, cwd, flags, patterns, operands, stdin)


def _searched(tree: Tree) -> list[bytes]:
    return [data for path, data in sorted(tree.files().items()) if path.startswith(b"up/")]


def _folders(tree: Tree) -> list[bytes]:
    gone = {entry.path for entry in tree.edits if entry.kind == "removed"}
    return [
        entry.path
        for entry in tree.entries
        if entry.kind == "folder" and entry.path not in gone and b".git" not in entry.path
    ]


def _cwd(random: Random, tree: Tree) -> bytes:
    kind = random.random()
    if kind < 0.6:
        return ROOT
    if kind < 0.7:
        return b"up"
    return random.choice(_folders(tree))


def _operands(random: Random, tree: Tree, cwd: bytes) -> tuple[str, ...]:
    count = random.choices([0, 1, 2, 3, 12], [40, 42, 10, 7, 1])[0]
    operands = [_operand(random, tree, cwd) for _ in range(count)]
    if count > 1 and random.random() < 0.3:
        operands[-1] = operands[0]
    return tuple(operands)


def _operand(random: Random, tree: Tree, cwd: bytes) -> str:
    kind = random.random()
    if kind < 0.2:
        return random.choice([".", "./", "..", "../", "../root", "./.", "../.."])
    if kind < 0.23:
        return random.choice(["nowhere", "-", "nowhere/x", ""])
    paths = [entry.path for entry in tree.entries if not entry.path.startswith(b"home/")]
    path = random.choice(paths if kind < 0.7 else _folders(tree))
    if random.random() < 0.1:
        return f"{BASE}/{os.fsdecode(path)}"
    relative = os.fsdecode(os.path.relpath(b"/" + path, b"/" + cwd))
    return random.choices([relative, f"./{relative}", f"{relative}/"], [8, 1, 1])[0]
