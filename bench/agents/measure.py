"""A run: first reply, families beside rg, memory, eight sessions at once, tokens."""

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
from typing import TYPE_CHECKING, Any

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


def run(name: str, places: Mapping[str, Path], rg: str, progress: Progress) -> dict[str, Any]:
    """Measure one corpus.

    Raises:
        Faulty: an answer was wrong, or there is none.
    """
    corpus = corpora.find(name, places, rg)
    with tempfile.TemporaryDirectory(prefix="triseek-bench-") as scratch:
        environ = environment(Path(scratch) / "state")
        del environ["TRISEEK_NO_DAEMON"]
        environ["TMPDIR"] = scratch
        progress.say(f"{name}: building, and starting the daemon")
        done = command.run(command_line("build", str(corpus.root)), cwd=corpus.root, env=environ)
        if done.code:
            raise Faulty(f"build: {done.errors[-200:]}")
        command.run(command_line("daemon", "start"), cwd=corpus.root, env=environ)
        try:
            return anyio.run(_measured, corpus, rg, environ, progress)
        finally:
            command.run(command_line("daemon", "stop"), cwd=corpus.root, env=environ)


async def _measured(
    corpus: Corpus, rg: str, environ: Mapping[str, str], progress: Progress
) -> dict[str, Any]:
    listed = corpora.listing(corpus.root, rg)
    sampled = sampling.sample(corpus.root, listed, corpus.name)
    asked = [question(case) for case in queries.cases(corpus, sampled, ("families",))]
    told: dict[str, Any] = {
        "corpus": corpus.name, "version": corpus.version, "files": corpus.files,
        "machine": machine.describe(), "load_before": machine.load(), "sampled": sampled,
    }  # fmt: skip
    progress.say("first replies")
    told["first_reply"] = _first_replies(corpus.root, environ)
    more = beyond(corpus.root, rg)
    async with connected(corpus.root, environ) as client:
        await _warm(client, asked)
        told["opened"] = _memory(corpus.root)
        told["families"] = [
            await _family(client, one, corpus, rg, more) for one in progress.each(asked, "families")
        ]
        told["asked"] = _memory(corpus.root)
        told["reuse"] = await _reuse(client, asked)
    progress.say(f"{SESSIONS} sessions at once")
    told["sessions"] = await _sessions(corpus.root, environ, asked, told["families"])
    told["load_after"] = machine.load()
    return told


def _first_replies(root: Path, environ: Mapping[str, str]) -> dict[str, Any]:
    """From the start of a process to its first reply, and what importing the SDK takes."""
    server, imported = [], []
    for _ in range(FIRST_REPLIES):
        server.append(_first_reply(root, environ))
        imported.append(command.run([sys.executable, "-c", _IMPORT], cwd=root, env=environ).seconds)
    ratio = statistics.median(server) / statistics.median(imported)
    return {
        "server": figures.reduced(server),
        "import": figures.reduced(imported),
        "ratio": round(ratio, 3),
    }


def _first_reply(root: Path, environ: Mapping[str, str]) -> float:
    argv = command_line("mcp", "serve", "--repo", str(root))
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
        told = await client.call(one.tool, one.arguments)
        if not told.envelope["fallback_used"] and told.envelope["freshness"] == "synced":
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


async def _sessions(
    root: Path,
    environ: Mapping[str, str],
    asked: Sequence[Question],
    families: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """Several agents on one root, each with a server of its own, all asking at once."""
    quick = [
        (one, family)
        for one, family in zip(asked, families, strict=True)
        if family["triseek"]["median_ms"] <= QUICK_MS
    ]
    seconds: list[float] = []
    wrong: list[str] = []
    gate = anyio.Event()
    ready = 0

    async def agent(number: int) -> None:
        nonlocal ready
        async with connected(root, environ) as client:
            await _warm(client, asked)
            ready += 1
            if ready == SESSIONS:
                gate.set()
            await gate.wait()
            for one, family in itertools.islice(itertools.cycle(quick), number, number + ASKED):
                told = await client.call(one.tool, one.arguments)
                seconds.append(told.seconds)
                if told.envelope["files_with_matches"] != family["files"]:
                    wrong.append(one.case.name)
            memory.append(_memory(root))

    memory: list[dict[str, int]] = []
    async with anyio.create_task_group() as group:
        for number in range(SESSIONS):
            group.start_soon(agent, number)
    if wrong:
        raise Faulty(f"with {SESSIONS} sessions at once {len(wrong)} answers differ: {wrong[:3]}")
    return {
        "sessions": SESSIONS,
        "questions": len(seconds),
        "seconds": figures.reduced(seconds),
        "p99_ms": round(statistics.quantiles(seconds, n=100)[98] * 1e3, 2),
        "memory": max(memory, key=lambda one: one["servers_pss"]),
    }


def _memory(root: Path) -> dict[str, int]:
    """Resident memory of the servers of a root and of the daemon, bytes."""
    told = {"servers": 0, "servers_rss": 0, "servers_pss": 0, "daemon_rss": 0}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            sizes = _sizes((folder / "smaps_rollup").read_text(encoding="ascii"))
        except OSError:
            continue
        if words[3:6] == [b"triseek", b"mcp", b"serve"] and os.fsencode(root) in words:
            told["servers"] += 1
            told["servers_rss"] += sizes["Rss"]
            told["servers_pss"] += sizes["Pss"]
        elif words[3:6] == [b"triseek", b"daemon", b"run"]:
            told["daemon_rss"] = max(told["daemon_rss"], sizes["Rss"])
    return told


def _sizes(text: str) -> dict[str, int]:
    rows = (line.split() for line in text.splitlines()[1:])
    return {row[0].rstrip(":"): int(row[1]) << 10 for row in rows if row[-1] == "kB"}
