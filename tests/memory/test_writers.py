"""Several threads and processes write and recall at once, and processes are killed meanwhile."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from triseek.kernels import cache
from triseek.memory.drawers import Draft
from triseek.memory.service import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WRITER = """
import sys
from triseek.kernels import cache, recall
from triseek.memory import word_search
from triseek.memory.drawers import Draft
from triseek.memory.service import Memory
cache.is_ready = lambda: True
word_search.FLUSHED = 5
memory, name, count = Memory(sys.argv[1]), sys.argv[2], int(sys.argv[3])
for at in range(count):
    drawer = memory.remember("shop", Draft(text=f"heron of{name} n{at}of{name}", room=name))
    print(drawer.uuid, flush=True)
    hits = memory.recall("shop", f"n{at}of{name}", 3).hits
    assert drawer.uuid in {hit.drawer.uuid for hit in hits}
    if at % 4 == 3:
        memory.prepare()
memory.close()
"""


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    from triseek.kernels import recall

    assert recall.refine
    monkeypatch.setattr(cache, "is_ready", lambda: True)
    memory = Memory(str(tmp_path / "memory"))
    memory.create("shop")
    yield memory
    memory.close()


def start(memory: Memory, name: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, memory.folder, name, str(count)],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def recalled(memory: Memory, query: str) -> list[str]:
    return sorted(hit.drawer.uuid for hit in memory.recall("shop", query, 100).hits)


def test_threads_see_what_they_wrote(memory: Memory) -> None:
    failures: list[str] = []

    def write(name: str) -> None:
        for at in range(12):
            draft = Draft(text=f"heron of{name} n{at}of{name}", room=f"room {at % 3}")
            uuid = memory.remember("shop", draft).uuid
            hits = memory.recall("shop", f"n{at}of{name}", 3).hits
            if uuid not in {hit.drawer.uuid for hit in hits}:
                failures.append(f"{name} {at}")
            if at % 5 == 4:
                memory.prepare()

    threads = [threading.Thread(target=write, args=(name,)) for name in ("ada", "bob", "cyd")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(recalled(memory, "heron")) == 36


@pytest.mark.long
def test_processes_write_at_once_and_each_sees_it(memory: Memory) -> None:
    writers = [start(memory, name, 20) for name in ("ada", "bob", "cyd")]
    written = sorted(uuid for one in writers for uuid in one.communicate()[0].split())
    assert [one.returncode for one in writers] == [0, 0, 0]
    assert len(written) == 60
    assert recalled(memory, "heron") == written


@pytest.mark.long
def test_killed_writers_lose_nothing_that_was_written(memory: Memory) -> None:
    draw = random.Random(1)
    written: set[str] = set()
    for name in ("ada", "bob", "cyd", "dan"):
        writer = start(memory, name, 1_000)
        assert writer.stdout is not None
        written.add(writer.stdout.readline().strip())
        time.sleep(draw.random())
        writer.send_signal(signal.SIGKILL)
        written.update(writer.stdout.read().split())
        writer.wait()
        writer.stdout.close()
        seen = recalled(memory, f"of{name}")
        assert seen
        memory.prepare()
        assert recalled(memory, f"of{name}") == seen
    total = {drawer.uuid for drawer in memory.listed("shop", limit=1_000)}
    assert written <= total
    assert len(total) <= len(written) + 4  # one may be written and not be told
