"""Makes trees on disk and runs searches in them: ripgrep, and triseek on each of its backends."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import closing, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests import rg
from tests.cli.running import command
from tests.fuzz.case import ROOT
from tests.left_behind import end_daemons_of
from triseek.cli import fast, main
from triseek.ipc import address, wire
from triseek.model import budget
from triseek.terminal.command_context import CommandContext

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from tests.fuzz.case import Case, Entry, Tree

IN_PROCESS = {"scan": "scan", "rg": "rg", "bare": "auto", "auto": "auto", "index": "index"}
"""Value of --engine for the backends that run in this process; `bare` has no index."""
PROCESSES = ("process", "client")
"""Backends that start a process: without a daemon, and asking the daemon."""
BACKENDS = (*IN_PROCESS, "daemon", *PROCESSES)
INDEXED = ("auto", "index", "daemon", "process", "client")
BY_RIPGREP = ("rg", "bare", "auto")
"""Backends on which ripgrep may do the search, and take as long as it likes."""
TIMEOUT_S = 60
NO_ANSWER = -1
"""Exit status of a search that was given up."""
NOT_IN_TIME = f"no answer within {TIMEOUT_S} s".encode()


class Answer(NamedTuple):
    status: int
    out: bytes
    err: bytes


class Arena:
    """A folder for trees, with a home folder and two state folders: one for indexes, one empty."""

    def __init__(self, work: Path) -> None:
        self.work = Path(os.path.realpath(work))
        self.home = self.work / "home"
        self.state = self.work / "state"
        self.empty_state = self.work / "empty"
        for folder in (self.home, self.state, self.empty_state):
            folder.mkdir(mode=0o700)
        self.base = self.work
        self._program = rg.program()
        self._planted: Tree | None = None
        self._built = False
        self._count = 0
        self._before = dict(os.environ), os.getcwd()
        self._with_daemon = False

    def __enter__(self) -> Self:
        folder = os.path.dirname(self._program)
        os.environ.update(HOME=str(self.home), TRISEEK_NO_DAEMON="1", TERM="xterm")
        os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"
        for name in ("XDG_CONFIG_HOME", "RIPGREP_CONFIG_PATH", "NO_COLOR", "COLUMNS"):
            os.environ.pop(name, None)
        os.environ["TRISEEK_HOME"] = str(self.state)
        return self

    def __exit__(self, *_: object) -> None:
        os.chdir(self._before[1])
        if self._with_daemon:
            os.environ["TRISEEK_HOME"] = str(self.state)
            command(["daemon", "stop", "--force"], Path("/"))
            end_daemons_of(str(self.state))
        os.environ.clear()
        os.environ.update(self._before[0])

    # Trees

    def plant(self, tree: Tree) -> None:
        """Make a tree in a new folder, and forget the one before."""
        if self._planted is tree:
            return
        os.chdir(self.work)
        if self.base != self.work:
            shutil.rmtree(os.fsencode(self.base.parent))
        for folder in self.home.iterdir():
            shutil.rmtree(folder)
        self._count += 1
        # In a folder of its own: no operand of a search leads up to the state folders.
        self.base = self.work / f"t{self._count}" / "base"
        self.base.mkdir(parents=True)
        self._planted, self._built = tree, False
        for entry in tree.entries:
            self._make(entry)

    def _path(self, path: bytes) -> bytes:
        if path.startswith(b"home/"):
            return os.fsencode(self.work) + b"/" + path
        return os.fsencode(self.base) + b"/" + path

    def _make(self, entry: Entry) -> None:
        path = self._path(entry.path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if entry.kind == "folder":
            os.makedirs(path, exist_ok=True)
        elif entry.kind == "link":
            os.symlink(entry.data, path)
        elif entry.kind == "removed":
            os.unlink(path)
        else:
            with open(path, "wb") as file:
                file.write(entry.data)

    def prepare(self, tree: Tree, *, indexed: bool) -> None:
        """Have a tree on disk as it is searched, with its index if asked for."""
        self.plant(tree)
        if self._built:
            return
        if indexed or tree.edits:
            os.environ["TRISEEK_HOME"] = str(self.state)
            root = os.fsdecode(self._path(ROOT))
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                done = self._in_process(["build", root], None)
            if done.status != 0:
                raise AssertionError(f"the build failed: {done}")
            for edit in tree.edits:
                self._make(edit)
            self._built = True

    # Searches

    def words(self, case: Case) -> list[str]:
        """The arguments of a case, for the tree that is on disk."""
        return case.words(str(self.base))

    def ripgrep(self, case: Case) -> Answer:
        """What ripgrep answers."""
        return self._spawn([self._program, "--no-config", "--sort=path", *self.words(case)], case)

    def triseek(self, case: Case, backend: str) -> Answer | None:
        """What triseek answers on one backend; None if the daemon leaves the work to its client."""
        self.prepare(case.tree, indexed=backend in INDEXED)
        words = self.words(case)
        os.environ["TRISEEK_HOME"] = str(self.empty_state if backend == "bare" else self.state)
        os.chdir(self._path(case.cwd))
        if backend in IN_PROCESS:
            return self._in_process([f"--engine={IN_PROCESS[backend]}", *words], case.stdin)
        if backend == "daemon":
            return self._ask(["search", *words], case)
        environ = dict(os.environ)
        if backend == "client":
            self._start_daemon()
            del environ["TRISEEK_NO_DAEMON"]
        return self._spawn([sys.executable, "-m", "triseek", "search", *words], case, environ)

    def _spawn(
        self, words: Sequence[str], case: Case, environ: dict[str, str] | None = None
    ) -> Answer:
        # A file: what ripgrep shows of a pipe with a late NUL depends on how the pipe was filled.
        with tempfile.TemporaryFile() as stdin:
            stdin.write(case.stdin or b"")
            stdin.seek(0)
            done = subprocess.run(
                words,
                cwd=self._path(case.cwd),
                env=environ,
                capture_output=True,
                timeout=TIMEOUT_S,
                check=False,
                stdin=subprocess.DEVNULL if case.stdin is None else stdin,
            )
        return Answer(done.returncode, done.stdout, done.stderr)

    def _in_process(self, words: Sequence[str], stdin: bytes | None) -> Answer:
        out, err = bytearray(), []
        with tempfile.TemporaryFile() as file:
            file.write(stdin or b"")
            file.seek(0)
            world = CommandContext(
                terminal=False,
                width=80,
                plain=False,
                stdin_readable=stdin is not None,
                out=out.extend,
                err=err.append,
                read_stdin=file.read,
                stdin=file.fileno(),
            )
            until = time.monotonic() + TIMEOUT_S
            with budget.limited(TIMEOUT_S):
                status = main.run(list(words), world)
            if time.monotonic() > until:
                return Answer(NO_ANSWER, bytes(out), NOT_IN_TIME)
        text = "".join(f"{line}\n" for line in err)
        return Answer(status, bytes(out), text.encode(errors="surrogateescape"))

    def _start_daemon(self) -> None:
        if self._with_daemon:
            return
        self._with_daemon = True
        os.environ["TRISEEK_HOME"] = str(self.state)
        done = command(["daemon", "start", "--idle-exit", "0"], Path("/"))
        assert done.status == 0, done.err

    def _ask(self, words: Sequence[str], case: Case) -> Answer | None:
        """The answer of the daemon, without a process for its client."""
        self._start_daemon()
        request = json.loads(fast.request(words))
        request["params"].update(terminal=False, width=80, stdin=case.stdin is not None)
        out, err = bytearray(), bytearray()
        with closing(address.connect(TIMEOUT_S)) as sock:
            wire.send(sock, json.dumps(request).encode())
            while True:
                try:
                    piece = wire.receive(sock, wire.PIECE_LIMIT + 1)
                except TimeoutError:
                    return Answer(NO_ANSWER, bytes(out), NOT_IN_TIME)
                kind, rest = piece[0], piece[1:]
                if kind == wire.OUT:
                    out += rest
                elif kind == wire.ERR:
                    err += rest
                elif kind == wire.END:
                    return Answer(int(rest), bytes(out), bytes(err))
                else:
                    return None
