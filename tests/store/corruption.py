"""Damage an index in every way a disk can, and tell what a search makes of it."""

import os
import shutil
from pathlib import Path

from tests.engine import answers as asking
from triseek import errors

HARMLESS = (errors.IndexCorrupt, errors.FormatTooNew, errors.IndexUnavailable)
"""What `engine.search.search` answers by taking another backend."""
QUESTIONS = [
    ("needle", {}),
    ("nee.*le|other", {}),
    ("needle\nline", {"multiline": True}),
    ("absent_word", {}),
]


def files_of(index_dir):
    """Every file of an index but its lock, relative to it."""
    found = (Path(folder) / name for folder, _, names in os.walk(index_dir) for name in names)
    return sorted(str(path.relative_to(index_dir)) for path in found if path.name != "lock")


def answers(root, index_dir):
    """What the index says to all questions, without a sweep: bytes of the index alone decide."""
    indexed, _ = asking.both(root, index_dir)
    said = [asking.ask(indexed, text, sweep=False, **more) for text, more in QUESTIONS]
    return [*said, indexed.list_files(asking.ScopeSpec(), sweep=False)[0]]


def swept_answers(root, index_dir):
    """The same with a sweep, which also reads the tables of folders and ignore files."""
    indexed, _ = asking.both(root, index_dir)
    return [asking.ask(indexed, text, **more) for text, more in QUESTIONS]


def outcome(ask, root, index_dir):
    """The answers, or the name of the error that sends a search elsewhere."""
    try:
        return ask(root, index_dir)
    except HARMLESS as error:
        return type(error).__name__


def copy(index_dir, to):
    if os.path.exists(to):
        shutil.rmtree(to)
    shutil.copytree(index_dir, to)
    return to


def flip(path, at, mask):
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ mask]))


def damage(rng, path):
    """One random fault in one file; what it was."""
    size = os.path.getsize(path)
    kind = rng.randrange(8) if size else 7
    if kind < 4:
        at, mask = rng.randrange(size), rng.randrange(1, 256)
        flip(path, at, mask)
        return f"byte {at} ^ {mask:#x}"
    if kind == 4:
        length = rng.randrange(size)
        os.truncate(path, length)
        return f"cut to {length}"
    if kind == 5:
        at, length = rng.randrange(size), rng.randrange(1, 600)
        with open(path, "r+b") as file:
            file.seek(at)
            file.write(bytes(min(length, size - at)))
        return f"{length} zeros at {at}"
    if kind == 6:
        with open(path, "ab") as file:
            file.write(rng.randbytes(rng.randrange(1, 100)))
        return "longer"
    os.unlink(path)
    return "gone"
