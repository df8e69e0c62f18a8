"""This machine: the program, the state folder, the limits of watching, the daemon, the hook."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.cli.serving import pretending
from tests.e2e.living import Living
from tests.ipc.forbidding import SOCKET
from triseek import __version__, paths
from triseek.files import inotify
from triseek.harness.checks import daemon, hook, program, proof, server, state
from triseek.harness.checks.watching import Taken, enough, taken_by
from triseek.ipc import lock
from triseek.kernels import cache

ROOT = Path(__file__).parents[3]


def only(findings):
    found = list(findings)
    assert len(found) == 1, found
    return found[0]


@pytest.fixture
def living(home):
    with Living(home) as living:
        yield living


# the program


def test_the_program_that_a_shell_finds_is_fine(host, triseek):
    said = only(program.program(host(program=triseek)))

    assert (said.level, said.detail) == ("ok", f"{__version__} at {triseek}")


@pytest.mark.parametrize(
    ("imported", "levels"), [("import re\nimport sys", ["ok", "info"]), ("import sys", ["ok"])]
)
def test_a_script_that_starts_slowly_is_told_of(host, programs, imported, levels):
    path = programs("triseek", f"\n{imported}\n")

    found = list(program.program(host(program=str(path))))

    assert [finding.level for finding in found] == levels
    assert all("pip install -U pip" in finding.mend for finding in found[1:])


def test_without_a_program_there_is_nothing_to_give_to_agents(host):
    assert only(program.program(host())).level == "fail"


def test_a_program_that_is_not_on_path_is_a_warning(host, tmp_path):
    away = tmp_path / "away" / "triseek"
    away.parent.mkdir()
    away.write_text("")

    found = list(program.program(host(program=str(away))))

    assert [finding.level for finding in found] == ["ok", "warn"]
    assert str(away.parent) in found[1].mend


@pytest.mark.parametrize(
    ("script", "level", "word"),
    [
        (f"echo triseek {__version__}", "info", "of this version"),
        ("echo triseek 0.0.1", "warn", "version 0.0.1"),
        ("exit 1", "warn", "does not say its version"),
    ],
)
def test_another_triseek_that_comes_first_is_told_of(host, programs, tmp_path, script, level, word):
    programs("triseek", script)
    away = tmp_path / "triseek"
    away.write_text("")

    found = list(program.program(host(program=str(away))))[1]

    assert found.level == level
    assert word in found.detail


def test_python_and_the_kernels_are_fine_here(host):
    assert only(program.python(host())).level == "ok"
    assert only(program.kernels(host())).level == "ok"


def test_kernels_that_are_not_compiled_are_a_warning(host, monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "none"))
    cache.directory.cache_clear()
    try:
        said = only(program.kernels(host()))
    finally:
        monkeypatch.undo()
        cache.directory.cache_clear()

    assert (said.level, said.mend) == ("warn", "triseek warmup")


@pytest.mark.parametrize("which", ["kernels", "above"])
def test_kernels_that_others_may_write_fail_and_the_cure_is_named(
    host, monkeypatch, tmp_path, which
):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "above" / "kernels"))
    cache.directory.cache_clear()
    try:
        cache.mark_ready()
        fault = tmp_path / "above" if which == "above" else tmp_path / "above/kernels"
        fault.chmod(0o777)
        cache._trusted.clear()
        said = only(program.kernels(host()))
        subprocess.run(said.mend, shell=True, check=True)
        after = only(program.kernels(host()))
    finally:
        monkeypatch.undo()
        cache.directory.cache_clear()

    assert said.level == "fail"
    assert f"{fault} can be written by others (mode 0777)" in said.detail
    assert after.level == {"above": "ok", "kernels": "warn"}[which]


# the state folder


@pytest.mark.root
def test_another_users_state_folder_fails(host, home):
    os.chown(home, 65533, 65533)

    said = only(state.folder(host()))

    assert said.level == "fail"
    assert f"{home} belongs to another user (uid 65533)" in said.detail


def test_a_state_folder_is_fine_whether_it_is_there_or_not(host, monkeypatch, tmp_path):
    assert only(state.folder(host())).level == "ok"
    monkeypatch.setenv("TRISEEK_HOME", str(tmp_path / "not" / "yet"))
    assert only(state.folder(host())).level == "ok"
    assert not (tmp_path / "not").exists()


def test_a_state_folder_that_is_a_file_fails(host, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TRISEEK_HOME", str(tmp_path / "file"))

    said = only(state.folder(host()))

    assert said.level == "fail"
    assert "TRISEEK_HOME" in said.mend


def test_what_others_may_read_is_told_of_with_the_command_that_ends_it(host):
    memo = Path(paths.daemon(), "memo")
    memo.mkdir(parents=True)
    Path(paths.daemon()).chmod(0o700)
    memo.chmod(0o700)
    kept = memo / "state.json"
    kept.write_text("{}")
    kept.chmod(0o600)
    assert only(state.privacy(host())).level == "ok"

    kept.chmod(0o644)
    said = only(state.privacy(host()))
    subprocess.run(said.mend, shell=True, check=True)

    assert said.level == "warn"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert only(state.privacy(host())).level == "ok"


def test_a_daemons_folder_that_is_a_link_fails(host, tmp_path):
    Path(paths.daemon()).symlink_to(tmp_path)

    assert only(state.privacy(host())).level == "fail"


def test_nothing_kept_is_nothing_to_tell(host, monkeypatch, tmp_path):
    monkeypatch.setenv("TRISEEK_HOME", str(tmp_path / "not" / "yet"))
    assert list(state.privacy(host())) == []


def test_settings_that_make_no_sense_fail(host):
    assert only(state.settings(host())).level == "ok"
    Path(paths.config_file()).write_text("[daemon]\nautostart = 3\n")

    said = only(state.settings(host()))

    assert said.level == "fail"
    assert "autostart" in said.detail


# the limits of watching


@pytest.mark.parametrize(
    ("need", "allowed", "watches", "taken", "level", "mend"),
    [
        (100, 2_000, 8_192, 500, "ok", ""),
        (0, 2_000, 8_192, 500, "ok", ""),
        (3_000, 2_048, 8_192, 0, "warn", "sudo sysctl fs.inotify.max_user_watches=16384"),
        (
            3_000, 2_000, 65_536, 0, "warn",
            "export TRISEEK_WATCH_MAX_FOLDERS=4096; triseek daemon restart",
        ),
        (100, 2_000, 8_192, 8_192, "warn", "sudo sysctl fs.inotify.max_user_watches=16384"),
    ],
)  # fmt: skip
def test_limits_are_held_against_what_is_needed(need, allowed, watches, taken, level, mend):
    said = enough(need, allowed, watches, Taken(1, taken))

    assert (said.level, said.mend) == (level, mend)


@pytest.mark.skipif(sys.platform != "linux", reason="inotify")
def test_watches_of_a_process_are_counted(tmp_path):
    def mine():
        return taken_by(iter([f"/proc/{os.getpid()}"]))

    before, instance = mine(), inotify.Inotify()
    (tmp_path / "a").mkdir()
    for folder in (tmp_path, tmp_path / "a"):
        instance.add(os.fsencode(folder))
    between = mine()
    instance.close()

    assert between == Taken(before.instances + 1, before.watches + 2)
    assert mine() == before


def test_processes_that_are_gone_count_for_nothing():
    assert taken_by(iter(["/proc/0", "/no/such/place"])) == Taken(0, 0)


# the daemon


def test_no_daemon_is_a_warning_that_says_whether_one_starts_by_itself(host, monkeypatch):
    said = only(daemon.daemon(host()))
    assert (said.level, said.mend) == ("warn", "triseek daemon start")
    assert "TRISEEK_NO_DAEMON is set" in said.detail
    monkeypatch.delenv("TRISEEK_NO_DAEMON")
    monkeypatch.delenv("CI", raising=False)
    assert "the next search starts it" in only(daemon.daemon(host())).detail


def test_a_daemon_that_runs_is_fine_if_it_is_this_versions(
    host, triseek, programs, living, monkeypatch
):
    monkeypatch.delenv("TRISEEK_NO_DAEMON")
    living.start()

    said = only(daemon.daemon(host()))
    assert said.level == "ok"
    assert f"process {living.pid()}" in said.detail
    assert only(hook.hook(host(program=triseek))).level in ("ok", "warn")

    deadline = time.monotonic() + 60  # a daemon that has just begun may keep a hook waiting
    while (refused := only(proof.memo(host(program=triseek)))).level != "ok":
        assert time.monotonic() < deadline, refused
    told = living.ask("memo_session", target_root="/", session=f"triseek-doctor-{os.getpid()}")
    assert told["tracked_files"] == 0
    silent = only(proof.memo(host(program=programs("triseek-x", "exit 0"))))
    assert (silent.level, silent.mend) == ("warn", "triseek daemon restart")

    monkeypatch.setenv("TRISEEK_MEMO_REFUSE", "false")
    assert only(proof.memo(host(program=triseek))).level == "info"

    monkeypatch.setattr(daemon, "__version__", "99.0")
    said = only(daemon.daemon(host()))
    assert (said.level, said.mend) == ("warn", "triseek daemon restart")


def test_a_daemon_that_says_nothing_is_to_be_ended(host, monkeypatch):
    monkeypatch.setattr(daemon, "PATIENCE_S", 0.2)
    end = threading.Event()
    with pretending(lambda _: end.wait(60)):
        said = only(daemon.daemon(host()))
        end.set()

    assert (said.level, said.mend) == ("fail", "triseek daemon restart --force")


def test_a_lock_that_nobody_listens_behind_is_told_of(host):
    os.mkdir(paths.daemon(), 0o700)
    descriptor = lock.take()
    assert descriptor is not None
    try:
        said = only(daemon.daemon(host()))
    finally:
        os.close(descriptor)

    assert said.level == "fail"
    assert f"process {os.getpid()} holds its lock" in said.detail


@pytest.mark.skipif(sys.platform != "linux" or SOCKET is None, reason="seccomp")
def test_a_sandbox_is_told_from_a_daemon_that_is_not_there(home):
    look = (
        "from triseek.harness.checks import daemon\n"
        "from triseek.harness.checks.host import Host\n"
        "said, = daemon.daemon(Host(cwd='/', program=''))\n"
        "print(said.level, said.detail, said.mend, sep='|')"
    )
    done = subprocess.run(
        [sys.executable, "-m", "tests.ipc.forbidding", look],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("warn|may not be reached from here: a sandbox")
    assert f"{home}/daemon/daemon.sock" in done.stdout


# the hook and the memo


def test_the_memo_is_not_put_to_the_proof_where_no_daemon_is(host, triseek):
    assert list(proof.memo(host(program=triseek))) == []


def test_a_daemon_that_did_not_answer_is_not_asked_again(host, programs, monkeypatch):
    """Not by the hook, which is another process, nor where asking it took the doctor a while."""
    monkeypatch.delenv("TRISEEK_NO_DAEMON")
    path = programs("triseek", '[ -n "$TRISEEK_NO_DAEMON" ] || echo it is asked')
    stuck = host(program=path, is_daemon_stuck=True)
    os.mkdir(paths.daemon(), 0o700)
    descriptor = lock.take()
    assert descriptor is not None
    try:
        assert only(hook.hook(stuck)).level in ("ok", "warn")
        assert list(proof.memo(stuck)) == []
    finally:
        os.close(descriptor)


def test_a_hook_that_is_silent_is_fine(host, triseek):
    said = only(hook.hook(host(program=triseek)))

    assert said.level in ("ok", "warn"), said  # warn: on a machine that has no time
    assert not Path(paths.daemon()).exists()


@pytest.mark.parametrize("script", ["echo a word", "echo a word >&2", "exit 1", "kill -9 $$"])
def test_a_hook_that_disturbs_the_agent_fails(host, programs, script):
    path = programs("triseek", script)

    said = only(hook.hook(host(program=path)))

    assert said.level == "fail"
    assert said.mend


def test_a_hook_that_does_not_start_fails(host):
    assert only(hook.hook(host(program="/no/such/triseek"))).level == "fail"


# the server


def test_a_server_that_answers_is_fine(host, triseek):
    said = only(server.server(host(program=triseek)))

    assert said.level == "ok", said
    assert re.search(r"with \d+ tools", said.detail)
    assert not Path(paths.daemon()).exists()


@pytest.mark.parametrize("script", ["exit 3", "echo nonsense", 'read a; echo \'{"id":"tools"}\''])
def test_a_server_that_does_not_answer_fails(host, programs, script):
    said = only(server.server(host(program=programs("triseek", script))))

    assert (said.level, said.mend) == ("fail", f"{programs.folder}/triseek mcp serve")
