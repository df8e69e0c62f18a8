"""A run: first replies, families beside rg, memory, eight sessions at once, tokens."""

from __future__ import annotations

import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio

from bench import command, corpora, figures, machine, queries, sampling
from bench.agents.client import Client, connected
from bench.agents.questions import Question, beyond, counted, question
from bench.engines.ripgrep import flags
from bench.engines.triseek_process import command_line, environment
from bench.model import Faulty
from triseek.model import token_estimate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench.model import Case, Corpus
    from bench.progress import Progress

FIRST_REPLIES = 11
TIMES = 9
SESSIONS = 8
ROUNDS = 3
"""Rounds of the sessions where two checkouts are compared."""
ASKED = 40
"""Questions of each session when there are several at once."""
QUICK_MS = 1_000.0
"""Questions that take longer are not among those."""
_IMPORT = "import mcp.server.lowlevel"
_INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
}  # fmt: skip


class Checkout(NamedTuple):
    """A version of triseek that is measured: its interpreter, and its processes' environment."""

    python: str
    environ: Mapping[str, str]

    @classmethod
    def this(cls, scratch: Path) -> Checkout:
        """The package that runs the bench; its state goes below `scratch`."""
        environ = environment(scratch / "state")
        del environ["TRISEEK_NO_DAEMON"]
        return cls(sys.executable, environ | {"TMPDIR": str(scratch)})

    @classmethod
    def peer(cls, folder: Path, scratch: Path) -> Checkout:
        """Another checkout with its own `.venv`; its state goes below `scratch`."""
        scratch.mkdir()
        environ = {**cls.this(scratch).environ, "PYTHONPATH": str(folder)}
        del environ["NUMBA_CACHE_DIR"]
        return cls(str(folder / ".venv/bin/python"), environ)

    def run(self, *words: str, cwd: Path) -> None:
        """Run one command of triseek.

        Raises:
            Faulty: it failed.
        """
        ended = command.run(command_line(*words, python=self.python), cwd=cwd, env=self.environ)
        if ended.code:
            raise Faulty(f"triseek {words[0]}: {ended.errors[-200:]}")


def run(
    name: str,
    places: Mapping[str, Path],
    rg: str,
    progress: Progress,
    against: Path | None = None,
) -> dict[str, Any]:
    """Measure one corpus; eight sessions at once also with the checkout `against`, in turn.

    Raises:
        Faulty: an answer was wrong, or there is none.
    """
    corpus = corpora.find(name, places, rg)
    with tempfile.TemporaryDirectory(prefix="triseek-bench-") as scratch:
        measured = [Checkout.this(Path(scratch))]
        if against:
            measured.append(Checkout.peer(against.resolve(), Path(scratch) / "peer"))
        try:
            for each in measured:
                progress.say(f"{name}: building, and starting the daemon ({each.python})")
                each.run("build", str(corpus.root), cwd=corpus.root)
                each.run("daemon", "start", cwd=corpus.root)
            return anyio.run(_measured, corpus, rg, measured, progress)
        finally:
            for each in measured:
                each.run("daemon", "stop", cwd=corpus.root)


async def _measured(
    corpus: Corpus, rg: str, measured: Sequence[Checkout], progress: Progress
) -> dict[str, Any]:
    listed = corpora.listing(corpus.root, rg)
    sampled = sampling.sample(corpus.root, listed, corpus.name)
    asked = [question(case) for case in queries.cases(corpus, sampled, ("families",))]
    environ = measured[0].environ
    record: dict[str, Any] = {
        "corpus": corpus.name, "version": corpus.version, "files": corpus.files,
        "machine": machine.describe(), "load_before": machine.load(), "sampled": sampled,
    }  # fmt: skip
    progress.say("first replies")
    record["first_reply"] = _first_replies(corpus.root, environ)
    more = beyond(corpus.root, rg)
    async with connected(corpus.root, environ) as client:
        await _warm(client, asked)
        record["opened"] = _memory(corpus.root, environ)
        record["families"] = [
            await _family(client, one, corpus, rg, more) for one in progress.each(asked, "families")
        ]
        record["asked"] = _memory(corpus.root, environ)
        record["reuse"] = await _reuse(client, asked)
    record |= await _sessions_in_turn(corpus, measured, asked, record["families"], progress)
    record["load_after"] = machine.load()
    return record


def _first_replies(root: Path, environ: Mapping[str, str]) -> dict[str, Any]:
    """From the start of a process to its first reply, with and without a daemon.

    Beside it what a bare interpreter and importing the SDK take, in turn.
    """
    # Another state folder: a server uses a running daemon even if starting one is forbidden.
    nowhere = os.path.join(environ["TRISEEK_HOME"], "no-daemon")
    alone = {**environ, "TRISEEK_NO_DAEMON": "1", "TRISEEK_HOME": nowhere}
    seconds: dict[str, list[float]] = {"server": [], "alone": [], "import": [], "interpreter": []}
    for _ in range(FIRST_REPLIES):
        seconds["server"].append(_first_reply(root, environ))
        seconds["alone"].append(_first_reply(root, alone))
        for name, code in (("import", _IMPORT), ("interpreter", "pass")):
            ended = command.run([sys.executable, "-c", code], cwd=root, env=environ)
            seconds[name].append(ended.seconds)
    median = {name: statistics.median(values) for name, values in seconds.items()}
    return {name: figures.reduced(values) for name, values in seconds.items()} | {
        "ratio": round(median["alone"] / median["import"], 3),
        "over_interpreter_ms": figures.ms(median["server"] - median["interpreter"]),
    }


def _first_reply(root: Path, environ: Mapping[str, str]) -> float:
    argv = [str(Path(sys.executable).with_name("triseek")), "mcp", "serve", "--repo", str(root)]
    began = time.perf_counter()
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env={**os.environ, **environ, "TRISEEK_MCP_DISABLE_STARTUP_SYNC": "1"},
    ) as server:  # fmt: skip
        assert server.stdin
        assert server.stdout
        server.stdin.write(json.dumps(_INITIALIZE).encode() + b"\n")
        server.stdin.flush()
        reply = server.stdout.readline()
        seconds = time.perf_counter() - began
        server.kill()
    if b'"triseek"' not in reply:
        raise Faulty(f"the first reply is {reply[:200]!r}")
    return seconds


async def _warm(client: Client, asked: Sequence[Question]) -> None:
    """Wait until the index answers and events are followed."""
    one = next(each for each in asked if each.case.name.endswith("literal_selective"))
    until = time.monotonic() + 120
    while time.monotonic() < until:
        answer = await client.call(one.tool, one.arguments)
        if not answer.envelope["fallback_used"] and answer.envelope["freshness"] == "synced":
            return
        await anyio.sleep(0.2)
    raise Faulty("the server has not come to answer from a watched index within two minutes")


async def _family(
    client: Client, one: Question, corpus: Corpus, rg: str, more: Sequence[str]
) -> dict[str, Any]:
    """Compare the totals with rg's, then ask both in turn."""
    argv = [rg, "--no-config", *flags(one.case)]
    first = await client.call(one.tool, one.arguments)
    note = "" if one.case.mode == "paths" else _verified(one.case, first.envelope, corpus, rg, more)
    ours, theirs = [], []
    for _ in range(TIMES):
        ours.append((await client.call(one.tool, one.arguments)).seconds)
        theirs.append(command.run(argv, cwd=corpus.root).seconds)
    output = command.run(argv, cwd=corpus.root, keep=True).output
    return {
        "name": one.case.name.partition("/")[2],
        "tool": one.tool,
        "query": one.arguments.get("query") or one.arguments["content_query"],
        "files": first.envelope["files_with_matches"],
        "lines": first.envelope.get("total_line_matches", 0),
        "triseek": figures.reduced(ours),
        "rg": figures.reduced(theirs),
        "rg_by": round(statistics.median(theirs) / statistics.median(ours), 3),
        "tokens_text": token_estimate.of_text(first.text),
        "tokens_json": token_estimate.of_text(json.dumps(first.envelope, ensure_ascii=False)),
        "tokens_rg": token_estimate.of_text(output.decode(errors="replace")),
        "note": note,
    }


def _verified(
    case: Case, envelope: Mapping[str, Any], corpus: Corpus, rg: str, more: Sequence[str]
) -> str:
    """Raise where the totals are not what rg counts; what is to be said of them otherwise."""
    right = counted(case, corpus.root, rg, () if case.globs else more)
    ours = (envelope["files_with_matches"], envelope["total_line_matches"])
    if ours != tuple(right):
        raise Faulty(f"{case.name}: {ours} files and lines, rg counts {tuple(right)}")
    return f"{len(more)} hidden files searched beside rg's" if more and not case.globs else ""


async def _reuse(client: Client, asked: Sequence[Question]) -> dict[str, Any]:
    """What an answer costs that the conversation has already; some are never remembered."""
    seconds, tokens, before = [], [], []
    for one in asked:
        arguments = {key: value for key, value in one.arguments.items() if key != "force_refresh"}
        first = await client.call(one.tool, one.arguments)
        again = await client.call(one.tool, arguments)
        if again.envelope["cache"] != "hit":
            continue
        seconds.append(again.seconds)
        before.append(token_estimate.of_text(first.text))
        tokens.append(token_estimate.of_text(again.text))
    if not seconds:
        raise Faulty("no answer is known again")
    return {
        "of": len(asked),
        "seconds": figures.reduced(seconds),
        "tokens": statistics.median(tokens),
        "tokens_first": statistics.median(before),
    }


async def _sessions_in_turn(
    corpus: Corpus,
    measured: Sequence[Checkout],
    asked: Sequence[Question],
    families: Sequence[Mapping[str, Any]],
    progress: Progress,
) -> dict[str, Any]:
    """Eight sessions at once, checkout by checkout, several rounds if there are two."""
    rounds: list[list[_Round]] = [[] for _ in measured]
    for number in range(ROUNDS if len(measured) > 1 else 1):
        for checkout, held in zip(measured, rounds, strict=True):
            progress.say(f"{SESSIONS} sessions at once, round {number + 1} ({checkout.python})")
            held.append(await _sessions(corpus.root, checkout, asked, families))
    names = ("sessions", "sessions_against")
    return {name: _reduced(held) for name, held in zip(names, rounds, strict=False)}


class _Round(NamedTuple):
    seconds: list[float]
    memory: dict[str, int]


def _reduced(rounds: Sequence[_Round]) -> dict[str, Any]:
    seconds = [one for each in rounds for one in each.seconds]
    return {
        "sessions": SESSIONS,
        "rounds": len(rounds),
        "questions": len(seconds),
        "seconds": figures.reduced(seconds),
        "p99_ms": round(statistics.quantiles(seconds, n=100)[98] * 1e3, 2),
        "memory": max((each.memory for each in rounds), key=lambda one: one["all_pss"]),
    }


async def _sessions(
    root: Path,
    checkout: Checkout,
    asked: Sequence[Question],
    families: Sequence[Mapping[str, Any]],
) -> _Round:
    """Several agents on one root, each with a server of its own, all asking at once."""
    quick = [
        (one, family)
        for one, family in zip(asked, families, strict=True)
        if family["triseek"]["median_ms"] <= QUICK_MS
    ]
    seconds: list[float] = []
    wrong: list[str] = []
    memory: list[dict[str, int]] = []
    gate = anyio.Event()
    ready = 0

    async def agent(number: int) -> None:
        nonlocal ready
        async with connected(root, checkout.environ, checkout.python) as client:
            await _warm(client, asked)
            ready += 1
            if ready == SESSIONS:
                gate.set()
            await gate.wait()
            for one, family in itertools.islice(itertools.cycle(quick), number, number + ASKED):
                answer = await client.call(one.tool, one.arguments)
                seconds.append(answer.seconds)
                if answer.envelope["files_with_matches"] != family["files"]:
                    wrong.append(_difference(one, family, answer.envelope))
            memory.append(_memory(root, checkout.environ))

    async with anyio.create_task_group() as group:
        for number in range(SESSIONS):
            group.start_soon(agent, number)
    if wrong:
        raise Faulty(f"with {SESSIONS} sessions at once {len(wrong)} answers differ: {wrong[:3]}")
    return _Round(seconds, max(memory, key=lambda one: one["all_pss"]))


def _difference(one: Question, family: Mapping[str, Any], envelope: Mapping[str, Any]) -> str:
    head = {name: value for name, value in envelope.items() if name != "results"}
    return f"{one.case.name}: not {family['files']} files: {head}"


def _memory(root: Path, environ: Mapping[str, str]) -> dict[str, int]:
    """Memory of the servers of a root and of their daemon, bytes."""
    sizes = dict.fromkeys(("servers", "servers_rss", "servers_pss", "daemon_rss", "daemon_pss"), 0)
    home = os.fsencode(f"TRISEEK_HOME={environ['TRISEEK_HOME']}")
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            if home not in (folder / "environ").read_bytes().split(b"\0"):
                continue
            size = _sizes((folder / "smaps_rollup").read_text(encoding="ascii"))
        except OSError:
            continue
        if words[3:6] == [b"triseek", b"mcp", b"serve"] and os.fsencode(root) in words:
            sizes["servers"] += 1
            sizes["servers_rss"] += size["Rss"]
            sizes["servers_pss"] += size["Pss"]
        elif words[3:6] == [b"triseek", b"daemon", b"run"]:
            sizes["daemon_rss"] += size["Rss"]
            sizes["daemon_pss"] += size["Pss"]
    return sizes | {"all_pss": sizes["servers_pss"] + sizes["daemon_pss"]}


def _sizes(text: str) -> dict[str, int]:
    rows = (line.split() for line in text.splitlines()[1:])
    return {row[0].rstrip(":"): int(row[1]) << 10 for row in rows if row[-1] == "kB"}
