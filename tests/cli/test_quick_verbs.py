"""roots, symbols, workflow, cluster: the same bytes in the daemon, in a process, and by Typer."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.running import Outcome, by_typer, standing_in, triseek
from tests.cli.serving import asked, environment, serving
from tests.conftest import plant
from tests.zoekt import hosts
from tests.zoekt_programs import free_port
from triseek.cli import fast, remote
from triseek.daemon.server import Declined
from triseek.engine.roots import index_dir
from triseek.engine.service import Service
from triseek.index.build import build
from triseek.zoekt.configured import cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

    Capture = pytest.CaptureFixture[bytes]

HEAVY = {"numpy", "numba", "typer", "json", "re", "typing", "dataclasses", "httpx2"}
COMMANDS = [
    "roots", "roots --json", "roots --nope", "roots search total", "roots search total --limit 1",
    "roots search 'total f:cart' --context=1", "roots search --repos total", "roots search 'x ('",
    "roots search nothing_so", "roots search", "roots search a b", "roots search total --limit 0",
    "roots search 'sym:total' --json", "roots nope",
    "symbols cart.py", "symbols cart.py --json", "symbols --definition total",
    "symbols --references total --limit 1", "symbols . --definition total --json", "symbols",
    "symbols nothing.py", "symbols nowhere --definition total", "symbols --definition nothing_so",
    "symbols --definition a --references b", "symbols ../front/cart.py",
    "workflow list", "workflow list callers", "workflow list --json", "workflow list zzzz",
    "workflow show symbol_usage", "workflow show nothing", "workflow show", "workflow",
    "workflow run symbol_usage --limit x", "workflow run nothing", "workflow run",
    "workflow run --in nowhere symbol_usage", "workflow run --code nowhere.py",
    "workflow run --code cart.py x", "workflow run --args [] --code cart.py",
    "workflow run --code cart.py --args '{\"a\": NaN}' --json",
    "cluster list", "cluster search x", "cluster status --json", "cluster search",
]  # fmt: skip


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder beside another one; both are indexed in the state folder beside them."""
    folder = tmp_path_factory.mktemp("quick")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRISEEK_HOME", str(folder / "state"))
        for name, files in {
            "front": {"cart.py": "def total(cart):\n    return sum(cart)\n" * 3},
            "back": {"bill.py": "import cart\n\n\ntotal = cart.total\nprint(total)\n"},
        }.items():
            (folder / name).mkdir()
            plant(folder / name, files)
            root = os.path.realpath(folder / name)
            build(root, index_dir(root))
    return folder / "front"


@pytest.fixture(autouse=True)
def _place(front: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRISEEK_HOME", str(front.parent / "state"))
    monkeypatch.setenv("CI", "1")
    monkeypatch.setenv("TERM", "xterm")
    for name in ("TRISEEK_NO_DAEMON", "ZOEKT_API_URL", "XDG_CONFIG_HOME", "RIPGREP_CONFIG_PATH"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def server(front: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRISEEK_HOME", str(front.parent / "state"))
        with serving():
            yield


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("text", COMMANDS)
def test_all_roads_write_the_same(
    text: str, front: Path, capfdbinary: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = shlex.split(text)
    here, its = triseek(words, front), asked(words, front, capfdbinary)
    assert _timeless(by_typer(words, front, monkeypatch)) == _timeless(here)
    if isinstance(its, fast.Left):  # what only Typer says
        assert (here.status, its.begun) == (2, False)
    else:
        assert _timeless(its) == _timeless(here)


def _timeless(outcome: Outcome) -> Outcome:
    timed = rb'("elapsed_ms"|"duration_ms"|Timing \(ms\)): [`\d.]+'
    return outcome._replace(out=re.sub(timed, b"ms", outcome.out))


@pytest.mark.usefixtures("server")
def test_a_cluster_is_that_of_the_client(
    front: Path, capfdbinary: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    down = f"http://127.0.0.1:{free_port()}"
    params = _params(front, "cluster", "search", "needle", "--json")
    monkeypatch.setenv("ZOEKT_API_URL", down)  # of the daemon
    with hosts.serving(hosts.routes(search=hosts.found(hosts.file_match("r", "p")))) as host:
        params["environ"]["ZOEKT_API_URL"] = host.url
        streams = _Collected()
        with Service() as service:
            assert remote.answer(service, params, streams, kept=_kept(service)) == 0  # type: ignore[arg-type]
    assert json.loads(streams.data)["files"] == 1
    outcome = asked(["cluster", "search", "needle"], front, capfdbinary)
    assert not isinstance(outcome, fast.Left)
    assert (outcome.status, outcome.out) == (2, b"")
    assert down.removeprefix("http://") in outcome.err


def test_a_client_without_hosts_does_not_search_those_of_the_daemon(
    front: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRISEEK_ZOEKT_TIMEOUT_S", "3")
    monkeypatch.setenv("TRISEEK_OTHER", "x")
    params = _params(front, "cluster", "list")
    assert params["environ"]["TRISEEK_ZOEKT_TIMEOUT_S"] == "3"
    assert "TRISEEK_OTHER" not in params["environ"]
    monkeypatch.setenv("ZOEKT_API_URL", f"http://127.0.0.1:{free_port()}")  # of the daemon
    monkeypatch.setenv("TRISEEK_ZOEKT_TIMEOUT_S", "x")
    streams = _Collected()
    with Service() as service:
        assert remote.answer(service, params, streams, kept=_kept(service)) == 2  # type: ignore[arg-type]
    assert b"Set ZOEKT_API_URL" in streams.errors


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("symbols /dev/stdin", "special file"),
        ("symbols /proc/self/cwd --definition x", "special file"),
        ("workflow run --code -", "stdin"),
        ("workflow run --code /dev/fd/63", "special file"),
        ("workflow run --in /proc/self/cwd todo_scan", "special file"),
        ("cluster index", "words"),
        ("workflows serve", "words"),
        ("roots --help", "words"),
    ],
)
def test_what_only_the_client_can_do_is_declined(words: str, reason: str, front: Path) -> None:
    with Service() as service:
        params = _params(front, *words.split())
        outcome = remote.answer(service, params, _Collected(), kept=_kept(service))  # type: ignore[arg-type]
    assert outcome == Declined(reason)


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("verb", ["roots", "symbols cart.py", "workflow list", "cluster status"])
def test_the_client_of_a_daemon_loads_next_to_nothing(verb: str, front: Path) -> None:
    program = (
        "import atexit, os, sys; names = os.dup(2); "
        "atexit.register(lambda: os.write(names, ' '.join(sys.modules).encode())); "
        "from triseek.cli.main import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", program, *verb.split()],
        cwd=front, env=environment(PYTHONIOENCODING="utf-8"), capture_output=True, check=False,
    )  # fmt: skip
    loaded = set(done.stderr.decode().splitlines()[-1].split())
    assert "triseek.cli.fast" in loaded
    assert not loaded & HEAVY


@pytest.mark.parametrize("words", ["roots search total", "symbols --definition total"])
def test_without_a_daemon_no_kernels_are_loaded_for_a_small_tree(words: str, front: Path) -> None:
    program = (
        "import sys; from triseek.cli.main import run; code = run(sys.argv[1:]); "
        "print(code, *{'numba', 'typer', 'triseek.kernels.verify'} & sys.modules.keys())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *words.split()],
        cwd=front, env=environment(TRISEEK_NO_DAEMON="1"), capture_output=True, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == b"0"


@pytest.mark.long
@pytest.mark.usefixtures("server")
def test_a_script_ends_with_its_client(front: Path, tmp_path: Path) -> None:
    script = tmp_path / "endless.py"
    script.write_text("def run(args):\n    while True:\n        pass\n")
    client = subprocess.Popen(
        [sys.executable, "-m", "triseek", "workflow", "run", "--code", str(script)],
        cwd=front, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        _until(lambda: _scripts() == 1)
    finally:
        client.send_signal(signal.SIGINT)
        client.wait()
    _until(lambda: _scripts() == 0)


@pytest.mark.long
@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("code", ["", "raise SystemExit(7)", "return {'total': args['a']}"])
def test_the_daemon_runs_workflows(
    code: str, front: Path, tmp_path: Path, capfdbinary: Capture
) -> None:
    script = tmp_path / "script.py"
    script.write_text(f"def run(args):\n    {code}\n")
    words = ["workflow", "run", "--args", '{"a": 3}', "--code", str(script)]
    if not code:
        words = shlex.split("workflow run symbol_usage --query total --limit 2")
    its, here = asked(words, front, capfdbinary), triseek(words, front)
    assert not isinstance(its, fast.Left)
    assert _timeless(its) == _timeless(here)
    assert here.status == (7 if "7" in code else 0)
    assert b"Tier: `" in here.out


def _until(holds: Any) -> None:
    until = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)


def _scripts() -> int:
    """How many scripts run in boxes that this process, which is the daemon here, has started."""
    lists = Path("/proc/self/task").glob("*/children")
    pids = [pid for listed in lists for pid in listed.read_text().split()]
    commands = [Path(f"/proc/{pid}/cmdline") for pid in pids]
    return sum(b"box.child" in each.read_bytes() for each in commands if each.exists())


def _kept(service: Service) -> dict[str, Any]:
    return {**dict.fromkeys(("roots", "symbols", "workflow"), service), "cluster": cluster}


def _params(folder: Path, *words: str) -> dict[str, Any]:
    with standing_in(folder):
        params: dict[str, Any] = json.loads(fast.request(words))["params"]
    return params


class _Collected:
    """Streams of a client that collect its output."""

    def __init__(self) -> None:
        self.data = self.errors = b""

    def out(self, data: bytes) -> None:
        self.data += data

    def err(self, data: bytes) -> None:
        self.errors += data

    def gone(self) -> bool:
        return False
