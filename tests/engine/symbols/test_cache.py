"""The cache returns what was kept, and nothing else, whatever happens to its file."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time

import pytest

from triseek.engine.symbols.cache import SymbolCache
from triseek.engine.symbols.parser import Parsed
from triseek.model.symbol import Symbol

TEXT = b"def name(): pass\n" * 200
PARSED = Parsed((Symbol("name", "function", 1, 1, 4, 8),))


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "symbols"


def test_what_was_kept_is_returned(folder):
    cache = SymbolCache(str(folder))
    assert cache.get("python 1", TEXT) is None
    cache.put("python 1", TEXT, PARSED)
    assert cache.get("python 1", TEXT) == PARSED
    assert cache.get("python 2", TEXT) is None
    assert cache.get("python 1", TEXT + b"\n") is None
    assert SymbolCache(str(folder)).get("python 1", TEXT) == PARSED


def test_files_are_private(folder):
    cache = SymbolCache(str(folder))
    cache.put("python 1", TEXT, PARSED)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for path in folder.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_oldest_make_room(folder):
    cache = SymbolCache(str(folder), bytes_max=20_000)
    many = Parsed(tuple(PARSED.symbols * 300))
    texts = [TEXT + str(number).encode() for number in range(400)]
    for text in texts:
        cache.put("python 1", text, many)
    kept = [cache.get("python 1", text) is not None for text in texts]
    assert kept[-1]
    assert not kept[0]
    assert kept == sorted(kept)
    with sqlite3.connect(folder / "symbols.db") as connection:
        (size,) = connection.execute("SELECT sum(length(packed)) FROM parsed").fetchone()
        (total,) = connection.execute("SELECT bytes FROM total").fetchone()
    assert size == total <= 22_000


@pytest.mark.parametrize("damage", [b"", b"not a database at all" * 100])
def test_a_damaged_file_is_replaced(folder, damage):
    cache = SymbolCache(str(folder))
    cache.put("python 1", TEXT, PARSED)
    cache.close()
    (folder / "symbols.db").write_bytes(damage)
    cache.put("python 1", TEXT, PARSED)
    cache.close()
    cache.put("python 1", TEXT, PARSED)
    assert cache.get("python 1", TEXT) == PARSED


def test_a_damaged_row_is_not_believed(folder):
    cache = SymbolCache(str(folder))
    cache.put("python 1", TEXT, Parsed((Symbol("other", "function", 1, 1, 4, 8),)))
    assert cache.get("python 1", TEXT) is None


def test_a_folder_that_cannot_be_made_costs_only_time(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    cache = SymbolCache(str(tmp_path / "file" / "symbols"))
    cache.put("python 1", TEXT, PARSED)
    assert cache.get("python 1", TEXT) is None


WRITER = """
import sys
from tests.engine.symbols.test_cache import PARSED, TEXT
from triseek.engine.symbols.cache import SymbolCache
cache = SymbolCache(sys.argv[1], bytes_max=100_000)
print("started", flush=True)
for number in range(int(sys.argv[2]), 1_000_000):
    cache.put("python 1", TEXT + str(number).encode(), PARSED)
"""


def writer(folder, first):
    words = [sys.executable, "-c", WRITER, str(folder), str(first)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, cwd=os.getcwd())
    process.stdout.readline()
    return process


def test_processes_that_write_and_are_killed_leave_a_sound_file(folder):
    for round_ in range(2):
        processes = [writer(folder, 1_000 * number + round_) for number in range(2)]
        time.sleep(0.4)
        for process in processes:
            process.send_signal(signal.SIGKILL)
            process.communicate()
    cache = SymbolCache(str(folder))
    cache.put("python 1", TEXT, PARSED)
    assert cache.get("python 1", TEXT) == PARSED
    with sqlite3.connect(folder / "symbols.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        (size,) = connection.execute("SELECT sum(length(packed)) FROM parsed").fetchone()
        (total,) = connection.execute("SELECT bytes FROM total").fetchone()
    assert size == total
