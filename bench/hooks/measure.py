"""A run: `python -c pass` and a hook in turn, by one agent and by eight at once.

Before anything is timed, every kind of hook has to say what it should. A hook is timed as an agent
waits for it: from before the fork until its output was at an end and it was reaped. The history is
on: the daemon imports what the hooks have recorded while they are timed.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import figures, machine
from bench.engines.triseek_process import command_line, environment
from bench.hooks.payloads import Agent, Step
from bench.model import Faulty

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench.progress import Progress

AGENTS = 8
ROUNDS = 60
"""Files of one agent; each is four hooks."""
ROUNDS_AT_ONCE = 20
STEP_S = 0.5
"""Of eight agents each does a step in so long; the quickest of real ones take longer."""
STARTS = 7
NOTHING = (sys.executable, "-c", "pass")
SCRIPT = Path(sys.executable).with_name("triseek")
"""What pip writes, and what agents run."""


def run(progress: Progress) -> dict[str, Any]:
    """Measure.

    Raises:
        Faulty: a hook did not say what it should.
    """
    with tempfile.TemporaryDirectory(prefix="triseek-bench-") as scratch:
        root = Path(scratch).resolve() / "repo"
        root.mkdir()
        environ = environment(Path(scratch) / "state")
        del environ["TRISEEK_NO_DAEMON"]
        environ["CI"] = ""
        environ["HOME"] = str(Path(scratch) / "home")  # nobody's conversations are imported
        Path(environ["HOME"]).mkdir()
        told: dict[str, Any] = {
            "machine": machine.describe(), "load_before": machine.load(),
            "hook": _shown(_hook()),
        }  # fmt: skip
        _daemon("start", environ)
        _triseek(("session", "open", "measure hooks", "--repo", str(root)), environ)
        _triseek(("history", "import", "--all"), environ)
        try:
            told |= _with_daemon(root, environ, progress)
            told["logged"] = _logged(root, environ)
            told["history"] = _imported(environ)
        finally:
            _daemon("stop", environ)
        progress.say("no daemon")
        told["down"] = _without(root, environ)
        told["load_after"] = machine.load()
    return told


def _with_daemon(root: Path, environ: Mapping[str, str], progress: Progress) -> dict[str, Any]:
    agents = [Agent(root, f"agent{number}") for number in range(AGENTS + 1)]
    for agent in agents:
        for step in agent.first_readings():
            _timed(step, root, environ)
    progress.say("one agent")
    alone = _in_turn(agents[0].steps(ROUNDS), root, environ)
    progress.say(f"{AGENTS} agents")
    before = _served(environ)
    steps = [agent.steps(ROUNDS_AT_ONCE) for agent in agents[1:]]
    together = _at_once(steps, root, environ, STEP_S)
    served = _served(environ)[len(before) :]
    progress.say(f"{AGENTS} agents without a pause")
    steps = [agent.steps(ROUNDS_AT_ONCE) for agent in agents[1:]]
    return {
        "alone": alone,
        "together": {"agents": AGENTS, "step_s": STEP_S, **together},
        "storm": _at_once(steps, root, environ, 0.0),
        "served_alone": _reduced(before),
        "served_together": _reduced(served),
    }


def _in_turn(steps: Sequence[Step], root: Path, environ: Mapping[str, str]) -> dict[str, Any]:
    nothing, hooks = [], []
    nothing_cpu, hook_cpu = [], []
    for step in steps:
        began = _children_cpu()
        nothing.append(_run(NOTHING, b"", root, environ)[0])
        between = _children_cpu()
        hooks.append((step.kind, _timed(step, root, environ)))
        nothing_cpu.append(between - began)
        hook_cpu.append(_children_cpu() - between)
    cpu = {"nothing_cpu": _reduced(nothing_cpu), "hook_cpu": _reduced(hook_cpu)}
    return {**_summed(nothing, hooks), **cpu}


def _children_cpu() -> float:
    """Seconds of CPU time of all processes that were started and have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _at_once(
    turns: Sequence[Sequence[Step]], root: Path, environ: Mapping[str, str], step_s: float
) -> dict[str, Any]:
    """Each agent in a thread; a step in `step_s`, at a moment of it that chance chooses."""
    nothing: list[float] = []
    hooks: list[tuple[str, float]] = []
    wrong: list[BaseException] = []

    def work(steps: Sequence[Step]) -> None:
        chance = random.Random(steps[0].payload)
        try:
            for step in steps:
                began, moment = time.monotonic(), chance.random() * step_s
                time.sleep(moment)
                nothing.append(_run(NOTHING, b"", root, environ)[0])
                hooks.append((step.kind, _timed(step, root, environ)))
                time.sleep(max(0.0, began + step_s - time.monotonic()))
        except BaseException as error:  # noqa: BLE001 - raised again in the main thread
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(steps,)) for steps in turns]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if wrong:
        raise wrong[0]
    return _summed(nothing, hooks)


def _summed(nothing: Sequence[float], hooks: Sequence[tuple[str, float]]) -> dict[str, Any]:
    seconds = [taken for _, taken in hooks]
    kinds = sorted({kind for kind, _ in hooks})
    return {
        "nothing": _reduced(nothing),
        "hook": _reduced(seconds),
        "kinds": {kind: _reduced([taken for one, taken in hooks if one == kind]) for kind in kinds},
    }


def _reduced(seconds: Sequence[float]) -> dict[str, Any]:
    found = figures.reduced(seconds)
    del found["samples_ms"]
    return {**found, "p99_ms": figures.ms(figures.quantile(seconds, 0.99))}


def _without(root: Path, environ: Mapping[str, str]) -> dict[str, Any]:
    """No daemon: one that is started behind the hook, and one that may not be started."""
    [step, *_] = Agent(root, "alone").steps(1)
    step = step._replace(refused=False)
    kept = {**environ, "CI": "1"}
    nothing, silent = [], []
    for _ in range(ROUNDS):
        nothing.append(_run(NOTHING, b"", root, kept)[0])
        silent.append(_timed(step, root, kept))
    starting = []
    for number in range(STARTS):
        own = {**environ, "TRISEEK_HOME": f"{environ['TRISEEK_HOME']}-{number}"}
        starting.append(_timed(step, root, own))
        _wait_for_daemon(own)
        _daemon("stop", own)
    return {
        "nothing": _reduced(nothing), "none_started": _reduced(silent),
        "one_started": _reduced(starting),
    }  # fmt: skip


def _timed(step: Step, root: Path, environ: Mapping[str, str]) -> float:
    """One hook; its answer is looked at too.

    Raises:
        Faulty: it was not silent, or was.
    """
    argv = (*_hook(), step.event, "--harness", "opencode")
    seconds, done = _run(argv, step.payload, root, environ)
    refused = b'"permissionDecision": "deny"' in done.stdout
    if (
        done.returncode
        or done.stderr
        or refused is not step.refused
        or bool(done.stdout) != refused
    ):
        raise Faulty(f"{step.kind}: {done.returncode} {done.stdout[:200]!r} {done.stderr[:200]!r}")
    return seconds


def _run(
    argv: Sequence[str], given: bytes, root: Path, environ: Mapping[str, str]
) -> tuple[float, subprocess.CompletedProcess[bytes]]:
    began = time.perf_counter()
    done = subprocess.run(
        argv, input=given, capture_output=True, cwd=root, env={**os.environ, **environ},
        check=False,
    )  # fmt: skip
    return time.perf_counter() - began, done


def _hook() -> tuple[str, ...]:
    return (str(SCRIPT), "hook") if SCRIPT.exists() else tuple(command_line("hook"))


def _shown(argv: Sequence[str]) -> str:
    return "the console script" if len(argv) == 2 else "python -m triseek"


def _served(environ: Mapping[str, str]) -> list[float]:
    """What the daemon says that it took over each hook so far, in seconds."""
    log = Path(environ["TRISEEK_HOME"]) / "daemon" / "daemon.log"
    rows = map(json.loads, itertools.takewhile(str.strip, log.open(encoding="utf-8")))
    return [row["ms"] / 1e3 for row in rows if row.get("verb") == "text"]


def _logged(root: Path, environ: Mapping[str, str]) -> int:
    """Entries in the log of the session that was open.

    Raises:
        Faulty: the hooks wrote none.
    """
    told = _triseek(("session", "status", "--repo", str(root), "--json"), environ)
    count = int(json.loads(told)["action_log_size"])
    if count < ROUNDS:
        raise Faulty(f"the session's log has {count} entries")
    return count


def _imported(environ: Mapping[str, str]) -> int:
    """Uses of tools in the history, which the daemon has imported by itself.

    Raises:
        Faulty: it imported none.
    """
    told = json.loads(_triseek(("history", "stats", "--json"), environ))
    count = sum(int(agent["events"]) for agent in told["agents"])
    if count < ROUNDS:
        raise Faulty(f"the history has {count} uses of tools")
    return count


def _daemon(word: str, environ: Mapping[str, str]) -> None:
    _triseek(("daemon", word), environ)


def _triseek(words: Sequence[str], environ: Mapping[str, str]) -> bytes:
    return subprocess.run(
        command_line(*words), env={**os.environ, **environ}, check=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
    ).stdout  # fmt: skip


def _wait_for_daemon(environ: Mapping[str, str]) -> None:
    until = time.monotonic() + 60
    record = Path(environ["TRISEEK_HOME"]) / "daemon" / "daemon.json"
    while not record.exists():
        if time.monotonic() > until:
            raise Faulty("a hook without a daemon did not start one")
        time.sleep(0.05)
