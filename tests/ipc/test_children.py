"""Children end with their parent, however it ends, and not with one of its threads."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from triseek.ipc import children

if TYPE_CHECKING:
    from pathlib import Path

GONE_S = 20.0
"""Generous: the kill itself takes milliseconds."""

STUCK = """#!/bin/sh
[ "$1" = --version ] && {{ echo ripgrep 15.1.0; exit; }}
[ "$1" = --wait ] && read -r _
echo $$ > {told}
exec sleep 600
"""
"""Stands for any program that does not end by itself."""
SITE = """
import os, sys
if "triseek.engine.reindex_process" in sys.orig_argv or "build" in sys.orig_argv:
    with open({told!r}, "w") as told:
        print(os.getpid(), file=told)
    while True:
        os.read(os.pipe()[0], 1)
"""
"""Has a Python process of ours hang before it begins."""

KINDS = {
    "rg": """
from triseek.engine.search.backends import ripgrep
from triseek.engine.search.query import Query
from triseek.model.search import PatternSpec, SearchRequest, Totals
from triseek.query.pattern import compile
request = SearchRequest(pattern=PatternSpec(patterns=("x",)))
list(ripgrep.search(Query.of(root, request), Totals()))
""",
    "git": """
from triseek.files.tree import git
git.head(root)
""",
    "reindex": """
from triseek.engine import reindex_process
reindex_process.reindex(root, "full")
""",
    "index_jobs": """
from triseek.daemon.index_jobs import IndexJobs
IndexJobs().run("build", root)
""",
    "doctor": """
from triseek.agents.doctor.host import DoctorHost
DoctorHost(cwd=root, program="").run(["git", "--wait"], stdin=b"go\\n", limit_s=600)
""",
}


@pytest.fixture
def told(tmp_path: Path) -> Path:
    """A FIFO by which a child tells its pid."""
    path = tmp_path / "told"
    os.mkfifo(path)
    return path


@pytest.fixture
def stuck(tmp_path: Path, told: Path) -> dict[str, str]:
    """An environment in which rg, git and our own processes hang."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("rg", "git"):
        (programs / name).write_text(STUCK.format(told=told))
        (programs / name).chmod(0o755)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(SITE.format(told=str(told)))
    return {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(tmp_path / "site"),
    }


def descriptor_of(told: Path) -> int:
    """A descriptor of the process whose pid comes by the FIFO; it is readable once that ended."""
    source = os.open(told, os.O_RDWR)  # a reader alone would wait for a writer, for ever
    try:
        assert has_ended(source, 60), "no child has been started"
        return os.pidfd_open(int(os.read(source, 64)))
    finally:
        os.close(source)


def has_ended(descriptor: int, within_s: float) -> bool:
    """Whether a process has ended, or ends within a time: whether its descriptor is readable."""
    return bool(select.select([descriptor], [], [], within_s)[0])


@pytest.mark.parametrize("kind", KINDS)
def test_a_child_ends_with_a_parent_that_was_killed(kind, stuck, told, tmp_path):
    code = f"root = {str(tmp_path)!r}\n{KINDS[kind]}"
    with subprocess.Popen([sys.executable, "-c", code], env=stuck) as parent:
        child = descriptor_of(told)
        assert not has_ended(child, 0)
        parent.send_signal(signal.SIGKILL)
    try:
        assert has_ended(child, GONE_S)
    finally:
        os.close(child)


def test_a_child_outlives_the_thread_that_started_it(told):
    started = []
    thread = threading.Thread(
        target=lambda: started.append(
            children.start(["/bin/sh", "-c", f"echo $$ > {told}; exec sleep 600"])
        )
    )
    thread.start()
    child = descriptor_of(told)
    thread.join()
    assert not has_ended(child, 0.5)
    started[0].kill()
    started[0].wait()
    os.close(child)


def test_a_child_ends_although_its_parent_was_started_by_a_child(told):
    inner = f"echo $$ > {told}; exec sleep 600"
    code = (
        "import sys; from triseek.ipc import children\n"
        f"children.start(['/bin/sh', '-c', {inner!r}]).wait()"
    )
    outer = (
        "import sys; from triseek.ipc import children\n"
        f"children.start([sys.executable, '-c', {code!r}]).wait()"
    )
    with subprocess.Popen([sys.executable, "-c", outer]) as parent:
        child = descriptor_of(told)
        parent.send_signal(signal.SIGKILL)
    assert has_ended(child, GONE_S)
    os.close(child)


def test_a_guard_that_was_killed_is_replaced():
    first = children.start(["/bin/true"])
    group = os.getpgid(first.pid)
    first.wait()
    os.kill(group, signal.SIGKILL)
    guard = os.pidfd_open(group)
    assert has_ended(guard, GONE_S)
    os.close(guard)
    second = children.start(["/bin/sleep", "600"])
    assert os.getpgid(second.pid) != group
    second.kill()
    second.wait()


def test_a_program_that_is_not_there_is_an_error():
    with pytest.raises(FileNotFoundError):
        children.start(["/nowhere/program"])


def test_a_program_that_may_not_be_run_is_an_error(tmp_path):
    (tmp_path / "program").write_text("#!/bin/sh\n")
    with pytest.raises(PermissionError):
        children.start([str(tmp_path / "program")])


def test_a_program_that_takes_too_long_is_killed(told):
    words = ["/bin/sh", "-c", f"echo $$ > {told}; exec sleep 600"]
    seen = []
    watcher = threading.Thread(target=lambda: seen.append(descriptor_of(told)))
    watcher.start()
    with pytest.raises(subprocess.TimeoutExpired):
        children.run(words, timeout=0.5)
    watcher.join(GONE_S)
    assert seen
    assert has_ended(seen[0], GONE_S)
    os.close(seen[0])


def test_what_a_session_leaves_behind_is_not_killed_when_it_ended(told):
    with children.session(
        ["/bin/sh", "-c", f"(echo $$ > {told}; exec sleep 600) & wait"], stdin=subprocess.DEVNULL
    ) as child:
        descriptor = descriptor_of(told)
        assert os.getsid(child.pid) == child.pid
        os.killpg(child.pid, signal.SIGKILL)
    assert has_ended(descriptor, GONE_S)
    os.close(descriptor)
