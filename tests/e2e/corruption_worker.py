"""Damages an index, searches it, mends it: one case per line of standard input.

A process of its own, so that a crash ends this one and not the tests. Answers each line with
another: "ok" and what answered, or what went wrong.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from random import Random

from tests.cli.running import Outcome, triseek
from triseek.kernels import verify

SEARCHES = (
    ["-n", "token_of_file_0007"],
    ["-n", "token_of_file_0007|token_of_file_0011"],
    ["-n", "-C1", "token_of_change_0000"],
    ["-c", "token_everywhere"],
    ["-n", r"word1\d\d word2\d\d word30\d"],
    ["-o", "-i", "TOKEN_OF_FILE_00[0-3]\\d"],
    ["-l", "word399", "-g", "dir0*/**"],
    ["-U", "-n", r"everywhere\nword00"],
    ["-c", "no_such_token_at_all"],
    ["--files"],
)
DIRECT = ("index_corrupt", "index_too_new", "state_unreadable", "no_index")
"""Reasons a route gives for not taking the index of this tree, where it is for what is wrong."""


assert verify, "with its kernels loaded, a process takes the index by itself"


def main(root: Path, index: Path, whole: Path) -> None:
    # A search without a path would search a standard input that is a pipe.
    cases = os.fdopen(os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    expected = [triseek(["--engine=scan", *words], root) for words in SEARCHES]
    for line in cases:
        try:
            said = case(root, index, whole, int(line), expected)
        except AssertionError as wrong:
            said = f"WRONG {wrong}"
        print(said.replace("\n", " "), flush=True)


def case(root: Path, index: Path, whole: Path, seed: int, expected: list[Outcome]) -> str:
    chance = Random(seed)
    name = chance.choice(
        sorted(str(path.relative_to(whole)) for path in whole.rglob("*") if path.is_file())
    )
    done = damage(whole / name, index / name, chance)
    number = seed % len(SEARCHES)
    words = SEARCHES[number]
    try:
        where = f"case {seed}: {done} of {name}, {words}"
        by_itself = triseek(words, root)
        assert by_itself.out == expected[number].out, f"{where}: {by_itself.err}"
        assert by_itself.status == expected[number].status, f"{where}: {by_itself.err}"
        answered = told(words, root, where)
        by_index = triseek(["--engine=index", *words], root)
        if by_index.status == 2:
            assert one_line(by_index.err), f"{where}: {by_index.err}"
        else:
            assert by_index.out == expected[number].out, f"{where}, by the index"
        if seed % 5 == 0 and name not in ("lock", "checked.json"):
            checked = triseek(["check"], root)
            assert checked.status == 2, f"{where}: check says {checked.out!r} {checked.err}"
            assert one_line(checked.err), f"{where}: {checked.err}"
        return f"ok {answered}"
    finally:
        put_back(whole, index)


def damage(pristine: Path, target: Path, chance: Random) -> str:
    """Leave a damaged copy at `target`, or nothing."""
    data = bytearray(pristine.read_bytes())
    kind = chance.choice(("flip", "flip", "flips", "cut", "cut to nothing", "longer", "delete"))
    if kind == "delete" or not data:
        target.unlink(missing_ok=True)
        return "delete"
    if kind.startswith("flip"):
        for _ in range(1 if kind == "flip" else chance.randrange(2, 9)):
            data[chance.randrange(len(data))] ^= chance.randrange(1, 256)
        if bytes(data) == pristine.read_bytes():  # two flips may undo each other
            data[0] ^= 1
    elif kind == "longer":
        data += chance.randbytes(chance.randrange(1, 5000))
    else:
        del data[chance.randrange(len(data)) if kind == "cut" else 0 :]
    replace(target, bytes(data))
    return kind


def told(words: list[str], root: Path, where: str) -> str:
    """Which backend answered; where it was not the index, the result says why."""
    if "--files" in words:
        return "files"
    if {"-l", "-c", "-o"} & set(words):
        words = [word for word in words if word not in ("-l", "-c", "-o")]
    result = json.loads(triseek(["--envelope", *words], root).out)
    if result["strategy"] == "triseek_indexed":
        return "indexed"
    # The index was looked into, and found to leave most of the tree.
    if result["routing_reason"] in ("low_selectivity", "weak_regex"):
        return "indexed"
    assert result["routing_reason"] in DIRECT or result.get("fell_back"), f"{where}: {result}"
    return "another backend"


def one_line(complaint: str) -> bool:
    return complaint.count("\n") == 1 and "a bug" not in complaint


def put_back(whole: Path, index: Path) -> None:
    """Make the index what it was; files are replaced, never rewritten, for some are mapped."""
    for path in whole.rglob("*"):
        target = index / path.relative_to(whole)
        if path.is_file() and not (
            target.exists() and target.stat().st_mtime_ns == path.stat().st_mtime_ns
        ):
            replace(target, path.read_bytes())
            shutil.copystat(path, target)


def replace(target: Path, data: bytes) -> None:
    aside = target.with_name(target.name + ".damaged")
    aside.write_bytes(data)
    aside.replace(target)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
    os._exit(0)
