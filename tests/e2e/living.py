"""A daemon in a state folder of its own, and the command line beside it, as processes."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from tests.left_behind import end_daemons_of
from triseek.errors import DaemonUnreachable
from triseek.ipc import client

ROOT = Path(__file__).parents[2]
RUN = [sys.executable, "-m", "triseek"]


class Said(NamedTuple):
    status: int
    out: bytes
    err: str
    seconds: float


class Aside(subprocess.Popen):
    """A process that prints one JSON document at its end."""

    def said(self, seconds=600):
        out, _ = self.communicate(timeout=seconds)
        assert self.returncode == 0, (self.args, self.returncode, out)
        return json.loads(out)


class Living:
    """Owns TRISEEK_HOME for a test; the daemon is stopped at its end."""

    def __init__(self, home):
        self.home = str(home)
        self.env = {**os.environ, "TRISEEK_HOME": self.home, "HOME": self.home, "CI": ""}
        self.env.pop("TRISEEK_NO_DAEMON", None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.run("daemon", "stop")
        end_daemons_of(self.home)

    def run(self, *words, cwd=None, **more):
        """One command, to its end."""
        began = time.perf_counter()
        done = subprocess.run(
            [*RUN, *map(os.fspath, words)], cwd=cwd, env={**self.env, **more},
            capture_output=True, stdin=subprocess.DEVNULL, timeout=120, check=False,
        )  # fmt: skip
        return self.told(done, time.perf_counter() - began)

    @staticmethod
    def told(done, seconds=0.0):
        """What a process that has ended said."""
        return Said(done.returncode, done.stdout, done.stderr.decode(errors="replace"), seconds)

    def files(self, pattern, root, **more):
        """Paths with a match, as the command line says."""
        said = self.run("-l", "--", pattern, cwd=root, **more)
        assert said.status in (0, 1), said
        return set(said.out.splitlines())

    def start(self):
        said = self.run("daemon", "start")
        assert said.status == 0, said
        return self

    def pid(self):
        return json.loads((Path(self.home) / "daemon" / "daemon.json").read_text())["pid"]

    @contextlib.contextmanager
    def aside(self, module, *words, cwd=ROOT):
        """A module of the tests as a process beside; what it printed last is JSON, in `.said`."""
        process = Aside(
            [sys.executable, "-m", module, *map(os.fspath, words)],
            cwd=cwd, env={**self.env, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        )  # fmt: skip
        try:
            yield process
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    def holder(self):
        """The pid in the lock, 0 for none: a daemon has it before it listens."""
        try:
            return int((Path(self.home) / "daemon" / "lock").read_text() or 0)
        except FileNotFoundError:
            return 0

    def kill(self, signal_number=signal.SIGKILL):
        """Signal the daemon, if one runs and is one of this state folder; whether it was there."""
        for _ in range(40):
            pid = self.holder()
            try:
                words = Path(f"/proc/{pid}/cmdline").read_bytes()
                environ = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
                break
            except (FileNotFoundError, ProcessLookupError):
                return False
            except PermissionError:  # it is about to end, or has just begun
                time.sleep(0.05)
        else:
            return False
        if b"daemon\0run" not in words or b"TRISEEK_HOME=" + self.home.encode() not in environ:
            return False
        os.kill(pid, signal_number)
        return True

    def let_start_again(self):
        """What ten seconds of waiting do: one daemon that fails is not followed by another."""
        stamp = Path(self.home) / "daemon" / "starting"
        if stamp.exists():
            os.utime(stamp, (time.time() - 60,) * 2)

    def log(self):
        """All that daemons wrote to the log, oldest first; every line has to be whole."""
        folder = Path(self.home) / "daemon"
        lines = [
            p.read_text().splitlines() for p in sorted(folder.glob("daemon.log*"), reverse=True)
        ]
        return [json.loads(line) for part in lines for line in part if line]

    def ask(self, verb, **params):
        """A JSON verb, as `ipc.client.ask` does it, in this process."""
        before = os.environ.get("TRISEEK_HOME")
        os.environ["TRISEEK_HOME"] = self.home
        try:
            return client.ask(verb, params, timeout_s=60)
        finally:
            if before is not None:
                os.environ["TRISEEK_HOME"] = before

    def wait_listening(self, seconds=30):
        """Until a daemon that was started by a search takes requests."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                return self.ask("ping")
            except DaemonUnreachable:
                assert time.monotonic() < deadline
                time.sleep(0.05)

    def wait_watched(self, root, seconds=90):
        """Until answers for a root are synced."""
        deadline = time.monotonic() + seconds
        while True:
            told = self.ask("sync", target_root=str(root))
            if told["freshness"] == "synced":
                return told
            assert time.monotonic() < deadline, told
            time.sleep(0.05)

    def rss_kb(self):
        status = Path(f"/proc/{self.pid()}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0])
