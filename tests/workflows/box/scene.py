"""What attacks try to reach, set up for real, and what was reached of it. Needs no pytest."""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
import subprocess
import tempfile
import threading
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triseek.workflows.box.runner import run
from triseek.workflows.execution import Limits, Script

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.workflows.execution import ExecutionResult

LIMITS = Limits(seconds=20)


def search(query: str, limit: int = 10) -> list[dict[str, Any]]:
    """Search."""
    return [{"query": query, "limit": limit}]


FUNCTIONS = {"search": search}


class Scene:
    """A canary, listening sockets, a victim, a secret in memory and one in the environment."""

    def __init__(self, folder: Path) -> None:
        self.secret = f"CANARY-{uuid.uuid4().hex}"
        self.mark = f"box-attack-{uuid.uuid4().hex}"
        self._folder = folder
        self._canary = folder / "canary.txt"
        self._canary.write_text(self.secret)
        self._canary.chmod(0o600)
        self._before = self._canary_state()
        self._memory = ctypes.create_string_buffer(self.secret.encode())
        self._connections = 0
        self._sockets = [self._listen(socket.AF_INET, ("127.0.0.1", 0))]
        self._sockets.append(self._listen(socket.AF_UNIX, str(folder / "s")))
        self._sockets.append(self._listen(socket.AF_UNIX, f"\0{self.mark}"))
        self._datagrams = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._datagrams.bind(str(folder / "d"))
        self._datagrams.setblocking(False)
        self._victim = subprocess.Popen(["sleep", "1000"], start_new_session=True)
        self._elsewhere = [str(folder), "/tmp", "/var/tmp", "/dev/shm", str(Path.home()), "/"]

    def arguments(self, *, alone: bool = True, trace: bool = True) -> dict[str, Any]:
        """What a script is told.

        Args:
            alone: whether it may start no process and listen nowhere, even in a world of its own.
            trace: whether it tries to stop this process, which nothing would continue.
        """
        return {
            "canary": str(self._canary),
            "pid": os.getpid(),
            "victim": self._victim.pid,
            "address": ctypes.addressof(self._memory),
            "size": len(self.secret),
            "port": self._sockets[0].getsockname()[1],
            "socket": str(self._folder / "s"),
            "abstract": f"\0{self.mark}",
            "datagram": str(self._folder / "d"),
            "mark": self.mark,
            "touch": str(self._folder / "touched"),
            "folders": self._elsewhere,
            "alone": alone,
            "network": alone,
            "trace": trace,
        }

    def breaches(self, result: ExecutionResult) -> list[str]:
        """Say what a run has reached."""
        text = f"{result.stdout}{result.stderr}{result.result_json!r}"
        reached = []
        if self.secret in text:
            reached.append("it has read a secret")
        if "REACHED" in text:
            reached.append(text[text.index("REACHED") :][:200])
        if self._canary_state() != self._before:
            reached.append("it has changed the canary")
        if extra := {path.name for path in self._folder.iterdir()} - {"canary.txt", "s", "d"}:
            reached.append(f"it has made {extra}")
        reached += [
            f"it has written to {folder}"
            for folder in self._elsewhere
            if (Path(folder) / self.mark).exists()
        ]
        if self._connections:
            reached.append("it has connected")
        with contextlib.suppress(BlockingIOError):
            self._datagrams.recv(10)
            reached.append("it has sent a datagram")
        if self._victim.poll() is not None:
            reached.append("it has ended the victim")
        return reached

    def close(self) -> None:
        """End what was started."""
        for end in (*self._sockets, self._datagrams):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        self._victim.kill()
        self._victim.wait()
        for folder in self._elsewhere:
            (Path(folder) / self.mark).unlink(missing_ok=True)

    def _canary_state(self) -> object:
        try:
            status = self._canary.stat()
            return self._canary.read_text(), status.st_mode, status.st_mtime, status.st_uid
        except OSError as error:
            return str(error)

    def _listen(self, family: int, address: Any) -> socket.socket:
        end = socket.socket(family)
        end.bind(address)
        end.listen()
        threading.Thread(target=self._accept, args=(end,), daemon=True).start()
        return end

    def _accept(self, end: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = end.accept()
                self._connections += 1
                connection.close()


@contextlib.contextmanager
def scene() -> Iterator[Scene]:
    """Set up what attacks try to reach; a secret is in the environment meanwhile."""
    with tempfile.TemporaryDirectory(prefix="scene-") as folder:
        stage = Scene(Path(folder))
        os.environ["BOX_SECRET"] = stage.secret
        try:
            yield stage
        finally:
            del os.environ["BOX_SECRET"]
            stage.close()


def attack(source: str, stage: Scene, **options: Any) -> tuple[ExecutionResult, list[str]]:
    """Run a script without its validation; return the result, and what it has reached."""
    view = {"alone": options.pop("alone", True), "trace": options.pop("trace", True)}
    options.setdefault("validate", False)
    script = Script(name="attack", source=source)
    result = run(script, stage.arguments(**view), FUNCTIONS, LIMITS, **options)
    return result, stage.breaches(result)
