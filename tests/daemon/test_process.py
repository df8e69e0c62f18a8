"""One daemon per user, over real processes: starting, ending, dying, being somebody else."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests import namespaces
from tests.cli.running import command
from tests.daemon.conftest import ROOT, eventually
from triseek import __version__, errors, paths
from triseek.daemon import process
from triseek.ipc import address, client, lock, spawn, surroundings, wire

pytestmark = pytest.mark.long

ANYWHERE = Path("/")


def is_alive(pid: int) -> bool:
    return process.start_time(pid) > 0 and Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"


def write_record(**changed) -> None:
    lock.ensure_folder()
    Path(paths.daemon(), "daemon.json").write_text(json.dumps({**address.record(), **changed}))


def test_a_started_daemon_answers_and_says_what_it_is(daemon):
    pid = daemon()

    assert client.ask("ping") == {"pid": pid, "version": __version__}
    assert client.ask("status")["pid"] == pid
    record = address.record()
    assert record["start_time"] == process.start_time(pid)
    assert record["address"] == f"unix:{paths.daemon()}/daemon.sock"
    assert lock.holder() == pid


def test_its_files_are_its_owners_alone(daemon):
    daemon()

    modes = {
        path.name: stat.S_IMODE(path.stat().st_mode) for path in Path(paths.daemon()).iterdir()
    }
    assert stat.S_IMODE(os.stat(paths.daemon()).st_mode) == 0o700
    assert modes.pop("starting", 0o600) == 0o600
    assert modes.pop("memo", 0o700) == 0o700
    assert modes == dict.fromkeys(
        ["daemon.json", "daemon.log", "daemon.sock", "lock", "start.log"], 0o600
    )


def opened_by(pid):
    """What a process has open; it opens and closes other things meanwhile."""
    names = []
    for number in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            names.append(os.readlink(f"/proc/{pid}/fd/{number}"))
    return names


def test_it_holds_nothing_of_whoever_started_it(daemon, tmp_path):
    with open(tmp_path / "inherited", "w", encoding="utf-8") as file:
        os.set_inheritable(file.fileno(), True)
        pid = daemon()

    opened = opened_by(pid)
    assert not [name for name in opened if "inherited" in name or "pipe" in name]
    assert os.readlink(f"/proc/{pid}/cwd") == "/"
    assert os.getsid(pid) == pid


def test_stop_waits_until_it_has_ended(daemon):
    pid = daemon()

    assert process.stop()
    assert eventually(lambda: not is_alive(pid)), "only the interpreter's own end is left"
    assert lock.is_free()
    assert sorted(os.listdir(paths.daemon())) == ["daemon.log", "lock", "memo", "start.log"]
    assert not process.stop()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(number, daemon):
    pid = daemon()
    os.kill(pid, number)

    assert lock.wait_until_free(10)
    assert address.record() == {}
    assert not os.path.exists(f"{paths.daemon()}/daemon.sock")
    log = Path(paths.daemon(), "daemon.log").read_text()
    assert json.loads(log.splitlines()[-1])["reason"] == number.name


def test_after_kill_9_the_next_one_starts_over_what_is_left(daemon):
    first = daemon()
    os.kill(first, signal.SIGKILL)
    assert lock.wait_until_free(10)
    assert os.path.exists(f"{paths.daemon()}/daemon.sock")
    with pytest.raises(errors.DaemonUnreachable, match="no daemon is running"):
        client.ask("ping")
    assert not process.stop()

    second = daemon()

    assert second != first
    assert client.ask("ping")["pid"] == second


def test_eight_starts_at_once_make_one_daemon(in_front):
    children = [
        in_front("-m", "triseek", "daemon", "start", "--json", stdout=subprocess.PIPE)
        for _ in range(8)
    ]
    said = [json.loads(child.communicate(timeout=120)[0]) for child in children]

    assert [child.returncode for child in children] == [0] * 8
    assert len({document["pid"] for document in said}) == 1
    assert client.ask("ping")["pid"] == said[0]["pid"] == lock.holder()
    log = Path(paths.daemon(), "daemon.log").read_text()
    assert log.count('"daemon started"') == 1


def test_a_second_run_says_who_is_first(daemon):
    pid = daemon()

    second = command(["daemon", "run"], ANYWHERE)

    assert second.status == 2
    assert second.err == f"triseek: a daemon is running (process {pid})\n"
    assert client.ask("ping")["pid"] == pid


def test_idle_exit_ends_it_and_leaves_nothing(daemon):
    daemon("--idle-exit=2")

    assert lock.wait_until_free(30)
    assert address.record() == {}
    assert '"reason": "idle"' in Path(paths.daemon(), "daemon.log").read_text()


def test_it_ends_when_its_folder_is_removed_and_leaves_the_next_daemons_alone(daemon):
    old = daemon()
    shutil.rmtree(paths.daemon())
    new = daemon()

    assert eventually(lambda: not lives(old), 30)
    assert new != old
    assert client.ask("ping")["pid"] == new


def lives(pid):
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def test_the_idle_exit_may_come_from_the_settings(daemon, home):
    (home / "config.toml").write_text("[daemon]\nidle_exit_s = 2\n")
    daemon()

    assert lock.wait_until_free(30)


def test_a_home_of_two_hundred_characters_is_served(daemon, tmp_path, monkeypatch):
    monkeypatch.setenv("TRISEEK_HOME", str(tmp_path / ("h" * 200)))
    pid = daemon()

    assert client.ask("ping")["pid"] == pid
    assert process.stop()
    assert not os.path.exists(f"{paths.daemon()}/daemon.sock")


def test_a_relative_home_is_the_same_for_both(tmp_path, monkeypatch):
    monkeypatch.setenv("TRISEEK_HOME", "state")
    done = command(["daemon", "start"], tmp_path)
    monkeypatch.setenv("TRISEEK_HOME", str(tmp_path / "state"))

    assert done.status == 0, done.err
    assert client.ask("ping")["pid"] == lock.holder()
    assert process.stop()


def test_by_tcp_it_is_reached_with_the_token_and_not_without(daemon, monkeypatch):
    monkeypatch.setenv(address.TRANSPORT, "tcp")
    pid = daemon()
    record = address.record()

    assert client.ask("ping")["pid"] == pid
    assert stat.S_IMODE(os.stat(f"{paths.daemon()}/daemon.json").st_mode) == 0o600
    host, port = record["address"].split(":")[1:]
    with socket.create_connection((host, int(port)), 5) as sock:
        wire.send(sock, client.request("shutdown", {}))
        assert sock.recv(100) == b""
    write_record(token="0" * 64)
    with pytest.raises(errors.DaemonUnreachable):
        client.ask("shutdown")
    write_record(token=record["token"])
    assert process.stop()


ANOTHER_VERSION = """
import triseek
triseek.__version__ = "0.0.9"
from triseek.cli.compose import compose
from triseek.config import Settings
from triseek.daemon import process
process.run(compose, Settings())
"""


def test_another_versions_daemon_makes_room_for_ours(in_front, monkeypatch):
    monkeypatch.delenv("TRISEEK_NO_DAEMON")
    monkeypatch.delenv("CI", raising=False)
    old = in_front("-c", ANOTHER_VERSION)
    assert spawn.wait_until_ready(30)
    with pytest.raises(errors.VersionMismatch, match=r"the daemon is triseek 0\.0\.9"):
        client.ask("anything")

    assert spawn.replace()
    assert spawn.wait_until_ready(30)

    assert old.wait(10) == 0
    assert client.ask("ping")["version"] == __version__
    assert not spawn.replace(), "ten seconds have not passed"


def test_start_replaces_another_versions_daemon(in_front, daemon):
    old = in_front("-c", ANOTHER_VERSION)
    assert spawn.wait_until_ready(30)

    pid = daemon()

    assert old.wait(10) == 0
    assert client.ask("ping") == {"pid": pid, "version": __version__}


def test_a_client_of_another_version_may_ask_for_the_end(daemon, monkeypatch):
    daemon()
    monkeypatch.setattr(surroundings, "__version__", "99.0")

    with pytest.raises(errors.VersionMismatch):
        client.ask("anything")
    assert process.stop()


class TestForce:
    """Only a process that certainly is the daemon is ever signalled."""

    STUCK = (
        "import sys\nfrom triseek.ipc import lock\nlock.ensure_folder()\nkept = lock.take()\n"
        "print('held', flush=True)\nsys.stdin.read()\n"
    )

    def stuck(self, in_front) -> subprocess.Popen:
        """A process that holds the lock and never answers."""
        child = in_front("-c", self.STUCK, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert child.stdout.readline() == b"held\n"
        return child

    @pytest.fixture
    def foreign(self):
        with subprocess.Popen(["sleep", "600"]) as child:
            yield child
            assert child.poll() is None, "a foreign process was ended"
            child.kill()

    def test_without_it_nothing_is_signalled(self, in_front, monkeypatch):
        monkeypatch.setattr(process, "LOCK_WAIT_S", 0.1)
        child = self.stuck(in_front)
        write_record(pid=child.pid, start_time=process.start_time(child.pid))

        with pytest.raises(errors.DaemonUnreachable) as raised:
            process.stop()
        assert "--force" in raised.value.next_step
        assert child.poll() is None

    def test_a_daemon_that_does_not_answer_is_ended(self, in_front):
        child = self.stuck(in_front)
        write_record(pid=child.pid, start_time=process.start_time(child.pid))

        assert process.stop(force=True)
        assert child.wait(10) == -signal.SIGTERM

    def test_one_that_does_not_heed_sigterm_is_killed(self, in_front, monkeypatch):
        monkeypatch.setattr(process, "KILL_AFTER_S", 0.3)
        monkeypatch.setattr(
            self.__class__,
            "STUCK",
            "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + self.STUCK,
        )
        child = self.stuck(in_front)
        write_record(pid=child.pid, start_time=process.start_time(child.pid))

        assert process.stop(force=True)
        assert child.wait(10) == -signal.SIGKILL

    def test_a_stopped_daemon_is_ended(self, daemon, monkeypatch):
        """SIGSTOP: it takes connections, by its queue, and answers none."""
        pid = daemon()
        os.kill(pid, signal.SIGSTOP)

        monkeypatch.setattr(process, "KILL_AFTER_S", 0.3)
        assert process.stop(force=True, timeout_s=0.3)
        assert not is_alive(pid)

    def test_a_foreign_process_on_the_dead_ones_pid_is_left_alone(self, daemon, foreign):
        os.kill(daemon(), signal.SIGKILL)
        assert lock.wait_until_free(10)
        write_record(pid=foreign.pid, start_time=process.start_time(foreign.pid))
        Path(paths.daemon(), "lock").write_text(f"{foreign.pid}\n")

        assert not process.stop(force=True), "the lock is free: none runs"

    @pytest.mark.parametrize("began", ["its own", "another's"])
    def test_a_foreign_process_is_left_alone_though_another_holds_the_lock(
        self, began, in_front, foreign
    ):
        child = self.stuck(in_front)
        of = foreign.pid if began == "its own" else child.pid
        write_record(pid=foreign.pid, start_time=process.start_time(of) + (began != "its own"))
        Path(paths.daemon(), "lock").write_text(f"{foreign.pid}\n")

        with pytest.raises(errors.Busy, match="cannot be identified"):
            process.stop(force=True)
        assert child.poll() is None

    def test_a_foreign_process_that_only_looks_at_the_lock_is_left_alone(self, in_front):
        child = self.stuck(in_front)
        reader = in_front(
            "-c",
            f"import sys; kept = open({paths.daemon()!r} + '/lock'); print('open', flush=True)\n"
            "sys.stdin.read()",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert reader.stdout.readline() == b"open\n"
        write_record(pid=reader.pid, start_time=process.start_time(reader.pid))

        with pytest.raises(errors.Busy, match="does not hold it"):
            process.stop(force=True)
        assert child.poll() is None
        assert reader.poll() is None

    @pytest.mark.parametrize(
        "record", [{}, {"pid": "1"}, {"pid": 1, "start_time": 1}, {"pid": -1, "start_time": 5}]
    )
    def test_a_record_that_names_nobody_ends_nobody(self, record, in_front):
        child = self.stuck(in_front)
        write_record(**record)

        with pytest.raises(errors.Busy, match="does not say which process"):
            process.stop(force=True)
        assert child.poll() is None


class TestHomes:
    READ_ONLY = """
mount -t tmpfs -o ro none "$TRISEEK_HOME"
python=$1
"$python" -m triseek daemon status; echo "= $?"
"$python" -c 'from triseek.ipc import spawn; print(spawn.behind(), spawn.replace())'
"$python" -m triseek daemon start 2>&1; echo "= $?"
ls -A "$TRISEEK_HOME"
"""

    def test_a_read_only_home_starts_nothing_and_says_so(self, home, monkeypatch):
        if refusal := namespaces.refusal("mount -t tmpfs -o ro none /mnt"):
            pytest.skip(f"no mounts here: {refusal}")
        monkeypatch.delenv("TRISEEK_NO_DAEMON")
        monkeypatch.delenv("CI", raising=False)
        done = subprocess.run(
            namespaces.command("sh", "-c", self.READ_ONLY, "sh", sys.executable),
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout.splitlines() == [
            "triseek: no daemon running",
            "= 0",
            "False False",
            (
                f"triseek: cannot use the folder {paths.daemon()}: Read-only file system. "
                "Point TRISEEK_HOME at a folder you may write."
            ),
            "= 2",
        ]

    def test_a_home_below_a_file_is_no_sign_of_a_missing_daemon(self, home, monkeypatch):
        (home / "file").write_text("")
        monkeypatch.setenv("TRISEEK_HOME", str(home / "file" / "x"))

        done = command(["daemon", "start"], ANYWHERE)

        assert done.status == 2
        assert done.err.startswith("triseek: the daemon cannot be reached from here: Not a dir")

    @pytest.mark.root
    def test_a_folder_of_another_user_is_not_used(self, home):
        os.mkdir(paths.daemon(), 0o777)
        os.chown(paths.daemon(), 65534, 65534)

        done = command(["daemon", "start"], ANYWHERE)

        assert done.status == 2
        assert "belongs to another user" in done.err
        assert os.listdir(paths.daemon()) == []

    def test_a_link_is_not_followed(self, home, tmp_path):
        os.symlink(tmp_path, paths.daemon())

        assert "is a link" in command(["daemon", "run"], ANYWHERE).err
        assert os.listdir(tmp_path) == []


def test_work_beside_the_server_is_started_closed_and_may_keep_it(in_front, home):
    program = """
import time
from triseek.config import Settings
from triseek.daemon import process
from triseek.daemon.server import Declined, Handlers

class Work:
    def start(self): print("start", flush=True); self.until = time.monotonic() + 1.5
    def busy(self): return time.monotonic() < self.until
    def close(self): print("close", flush=True)

class Broken(Work):
    def start(self): super().start(); raise ValueError("no")
    def close(self): super().close(); raise ValueError("no")

work = [Work(), Broken()]
begun = time.monotonic()
handlers = Handlers(lambda *_: Declined("no"))
why = process.run(lambda settings: (handlers, work), Settings(daemon_idle_exit_s=0.3))
print(why, time.monotonic() - begun > 1.5)
"""
    child = in_front("-c", program, stdout=subprocess.PIPE)

    assert child.communicate(timeout=30)[0].split() == [
        b"start", b"start", b"close", b"close", b"idle", b"True",
    ]  # fmt: skip
    log = Path(paths.daemon(), "daemon.log").read_text()
    assert log.count("ValueError: no") == 2


def test_a_daemon_that_cannot_begin_says_why(home):
    (home / "config.toml").write_text("[daemon]\nidle_exit = 3\n")

    done = command(["daemon", "start"], ANYWHERE)

    assert done.status == 2
    assert "the daemon did not start" in done.err
    assert "daemon.idle_exit: no such setting" in done.err


def test_start_time_tells_processes_apart():
    assert process.start_time() == process.start_time(os.getpid()) > 0
    assert process.start_time(2**22 + 1) == 0
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert eventually(lambda: process.start_time(child.pid) >= process.start_time())
        child.communicate(b"\n")
