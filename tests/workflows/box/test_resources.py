# ruff: noqa: E501
"""Scripts that take all they can get are ended in time, and leave nothing behind."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.workflows.box.machine import EACH_TIER, HERE, NEEDS_KERNEL, execute
from triseek.workflows.execution import ExecutionResult, Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from triseek.workflows.execution import Tier

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc"),
]
_SECONDS = 3.0
_SPARE_S = 12.0
"""What a busy machine may take longer."""
_MEMORY_BYTES = 96 << 20
"""How much this process may grow: the caps are below 20 MB, the rest is the allocator's."""

GREEDY = {
    "a gigabyte of output": "line = 'x' * (1 << 20)\nfor _ in range(1000): print(line)",
    "a gigabyte in one line": "import sys\nfor _ in range(1000): sys.stdout.write('x' * (1 << 20))",
    "a gigabyte of errors": "import os\nfor _ in range(1000): os.write(2, b'x' * (1 << 20))",
    "a gigabyte of results": "print('__RESULT_JSON__=', end='')\nfor _ in range(1000): print('[' * (1 << 20), end='')",
    "a million results": "for _ in range(10 ** 6): print('__RESULT_JSON__=' + '1' * 100)",
    "an endless loop": "while True: pass",
    "an endless sleep": "import time\ntime.sleep(10 ** 6)",
    "a sleep in threads": """
import threading, time
for _ in range(10): threading.Thread(target=time.sleep, args=(10 ** 6,)).start()
""",
    "an expression": "x = 9 ** 9 ** 9",
    "a regular expression": "import re\nre.match('(a+)+$', 'a' * 60 + 'b')",
    "ten gigabytes": "x = bytearray(10 << 30)",
    "ten gigabytes in parts": "x = []\nwhile True: x.append(bytearray(1 << 20))",
    "ten gigabytes mapped": "import mmap\nx = []\nwhile True: x.append(mmap.mmap(-1, 1 << 28))",
    "many threads": """
import threading, time
while True: threading.Thread(target=time.sleep, args=(1000,)).start()
""",
    "deep recursion": "import sys\nsys.setrecursionlimit(10 ** 9)\ndef f(): return f()\nf()",
    "deep recursion in C": "import sys\nsys.setrecursionlimit(10 ** 9)\nclass A:\n    def __repr__(self): return repr([self])\nrepr(A())",
    "a fork bomb": "import os\nfor _ in range(10 ** 6):\n    try: os.fork()\n    except OSError: pass",
    "signals ignored": """
import signal
for n in range(1, 65):
    try: signal.signal(n, signal.SIG_IGN)
    except (OSError, ValueError): pass
while True: pass
""",
    "signals blocked": "import signal\nsignal.pthread_sigmask(0, range(1, 65))\nwhile True: pass",
    "it stops itself": "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
    "it stops its group": "import os, signal\nos.kill(0, signal.SIGSTOP)\nwhile True: pass",
    "closed pipes": "import os\nos.closerange(0, 64)\nwhile True: pass",
    "a large file": "x = open('a', 'wb')\nwhile True: x.write(bytes(1 << 20))",
    "many large files": "n = 0\nwhile True:\n    n += 1\n    open(str(n), 'wb').write(bytes(8 << 20))",
    "large files without names": "import os\nx = []\nwhile True:\n    x.append(open(str(len(x)), 'wb')); x[-1].write(bytes(8 << 20)); os.unlink(x[-1].name)",
    "many files": "n = 0\nwhile True:\n    n += 1\n    open(str(n), 'wb').close()",
    "deep folders": "import os\nn = 'd'\nwhile True:\n    os.mkdir(n); n += '/d'",
    "a full pipe": "import os\na, b = os.pipe()\nwhile True: os.write(b, bytes(1 << 16))",
    "an endless end": "import atexit, time\natexit.register(time.sleep, 10 ** 6)",
}  # fmt: skip
_CHANNEL = """
import os, socket, stat
def channel():
    for n in range(3, 64):
        try:
            if stat.S_ISSOCK(os.fstat(n).st_mode): return n
        except OSError: pass
c = channel()
"""
FRAMES = {
    "a huge length": "os.write(c, b'\\xff' * 4 + b'x' * 100)\nwhile True: pass",
    "garbage": "while True: os.write(c, os.urandom(1 << 16))",
    "no JSON": "os.write(c, b'\\0\\0\\0\\4nope')\nwhile True: pass",
    "no object": "os.write(c, b'\\0\\0\\0\\2[]')\nwhile True: pass",
    "no number": "os.write(c, b'\\0\\0\\0\\2{}')\nwhile True: pass",
    "a deep value": "b = b'[' * 900000\nos.write(c, len(b).to_bytes(4, 'big') + b)\nwhile True: pass",
    "too many calls": """
b = b'{"id": 1, "name": "search", "arguments": {"query": "x"}}'
f = len(b).to_bytes(4, 'big') + b
import threading
threading.Thread(target=lambda: [os.read(c, 1 << 16) for _ in iter(int, 1)], daemon=True).start()
while True: os.write(c, f)
""",
}
QUIET = {
    "half a frame": "os.write(c, b'\\0\\0')\nwhile True: pass",
    "calls whose replies are not read": """
b = b'{"id": 1, "name": "large", "arguments": {}}'
f = len(b).to_bytes(4, 'big') + b
while True: os.write(c, f)
""",
    "a closed channel": "os.close(c)\nwhile True: pass",
    "unknown functions": """
for name in ('__class__', 'nope', 'x' * 1000, None, 1, ['search'], {'a': 1}):
    import json
    b = json.dumps({"id": 1, "name": name, "arguments": {}}).encode()
    os.write(c, len(b).to_bytes(4, 'big') + b)
    reply = os.read(c, 4096)
    assert b'there is no host function' in reply, reply
for arguments in (None, 1, [], 'x', {'nope': 1}, {'query': [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}):
    b = json.dumps({"id": 1, "name": "search", "arguments": arguments}).encode()
    os.write(c, len(b).to_bytes(4, 'big') + b)
    reply = os.read(c, 4096)
    assert b'error' in reply, reply
while True: pass
""",
}  # fmt: skip
ESCAPES = {
    "children that leave": """
import os, time
for _ in range(20):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.setsid()
            time.sleep(1000)
        os._exit(0)
print('left', flush=True)
""",
    "children that leave, and a loop": """
import os, time
for _ in range(20):
    if os.fork() == 0:
        os.setsid()
        if os.fork(): os._exit(0)
        time.sleep(1000)
while True: pass
""",
    "generations": """
import os, time, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
until = time.monotonic() + 20
while time.monotonic() < until:
    if os.fork(): os._exit(0)
    os.setsid()
""",
    "folders without end": "import os\nfor _ in range(3000):\n    os.mkdir('d'); os.chdir('d')\nwhile True: pass",
    "closed folders": "import os\nos.makedirs('a/b/c')\nos.symlink('/', 'a/link')\nos.symlink('/', 'link')\nos.chmod('a/b', 0)\nos.chmod('a', 0)",
    "it kills its parent": """
import os, signal, time
print('x', flush=True)
time.sleep(0.2)
os.kill(os.getppid(), signal.SIGKILL)
while True: pass
""",
}


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A folder for boxes: processes of this test have its path in their environment."""
    with tempfile.TemporaryDirectory(prefix="boxes-") as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield folder
        monkeypatch.setattr(tempfile, "tempdir", None)


def _share(scripts: dict[str, str], every: int) -> list[object]:
    """All scripts; but one of `every` is `slow`."""
    return [
        name if not place % every else pytest.param(name, marks=pytest.mark.slow)
        for place, name in enumerate(scripts)
    ]


@NEEDS_KERNEL
@pytest.mark.parametrize("name", _share(GREEDY, 4))
def test_greedy_scripts_are_ended(name: str, place: str) -> None:
    _ends(GREEDY[name], place)


@NEEDS_KERNEL
@pytest.mark.parametrize("name", _share(FRAMES, 3))
def test_hostile_frames_end_the_script(name: str, place: str) -> None:
    result = _ends(_CHANNEL + FRAMES[name], place)
    assert "ended for what it sent to its host: " in result.stderr
    assert result.exit_code == 1


@NEEDS_KERNEL
@pytest.mark.parametrize("name", _share(QUIET, 4))
def test_frames_that_wait_are_ended_by_the_clock(name: str, place: str) -> None:
    result = _ends(_CHANNEL + QUIET[name], place)
    assert (result.exit_code, result.stderr) == (124, "execution timed out")


@pytest.mark.parametrize("name", _share(ESCAPES, 2))
def test_descendants_end_without_walls(name: str, place: str) -> None:
    _ends(ESCAPES[name], place, tier="process")


@EACH_TIER
@pytest.mark.parametrize("name", ["children that leave", "children that leave, and a loop"])
def test_descendants_end_in_each_tier(name: str, tier: Tier, place: str) -> None:
    _ends(ESCAPES[name], place, tier=tier)


@pytest.mark.skipif(not HERE.bubblewrap, reason="no bubblewrap")
@pytest.mark.parametrize("name", ["many large files", "an endless loop", "signals ignored"])
def test_bubblewrap_ends_greedy_scripts(name: str, place: str) -> None:
    _ends(GREEDY[name], place, tier="bubblewrap")


def test_monty_ends_greedy_scripts(place: str) -> None:
    pytest.importorskip("pydantic_monty")
    for source in (
        "while True: pass",
        "while True: print('x' * 1000)",
        "x = 'y' * (10 << 30)",
        "x = []\nwhile True: x.append('y' * 1000000)",
        "def f(): return f()\nf()",
        "x = 9 ** 9 ** 9",
    ):
        _ends(source, place, runner="monty")


_HOST = """
import sys
from tests.workflows.box.machine import execute
print("ready", flush=True)
execute("while True: pass\\ndef run(args): pass", tier=sys.argv[1])
"""


@EACH_TIER
def test_scripts_end_with_their_host(tier: Tier, place: str) -> None:
    environment = {**os.environ, "TMPDIR": place}
    with subprocess.Popen(
        [sys.executable, "-c", _HOST, tier], env=environment, stdout=subprocess.PIPE
    ) as host:
        assert host.stdout is not None
        host.stdout.readline()
        _wait_until(lambda: len(_descendants(host.pid)) >= 2)
        started = _descendants(host.pid)
        host.kill()
    _wait_until(lambda: not started & _running())


def _parents() -> dict[int, int]:
    """The parent of each running process. An ordinary user cannot read a box's environment."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if fields[0] != "Z":
                parents[int(stat.parent.name)] = int(fields[1])
    return parents


def _running() -> set[int]:
    return set(_parents())


def _descendants(pid: int) -> set[int]:
    parents = _parents()
    descendants: set[int] = set()
    while (
        more := {child for child, parent in parents.items() if parent in {pid, *descendants}}
        - descendants
    ):
        descendants |= more
    return descendants


def _wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 15
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.02)


def _large() -> str:
    return "x" * (1 << 20)


def _search(query: str) -> list[str]:
    return [query]


def _ends(source: str, place: str, tier: Tier = "kernel", **options: str) -> ExecutionResult:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.monotonic()
    result = execute(
        f"{source}\ndef run(args): return []", tier=tier, limits=Limits(seconds=_SECONDS),
        functions={"search": _search, "large": _large}, **options,
    )  # fmt: skip
    assert time.monotonic() - begin < _SECONDS + _SPARE_S
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert grown < _MEMORY_BYTES
    assert len(result.stdout) < 40_000
    assert len(result.stderr) < 40_000
    _wait_until(lambda: _processes(place) == [])  # who was killed needs a moment to end
    assert list(Path(place).iterdir()) == []
    _wait_for_threads()
    return result


def _processes(mark: str) -> list[str]:
    """Processes with a text in their environment: the box's folder is in that of all in it."""
    remaining = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            status = (environment.parent / "stat").read_text().rpartition(")")[2].split()
            own = environment.parent.name == str(os.getpid())
            if mark.encode() in environment.read_bytes() and status[0] != "Z" and not own:
                remaining.append((environment.parent / "cmdline").read_text()[:100])
    return remaining


def _wait_for_threads() -> None:
    until = time.monotonic() + 10
    while [thread for thread in threading.enumerate() if thread.name.startswith("box")]:
        assert time.monotonic() < until, "a thread of the box has stayed"
        time.sleep(0.02)
