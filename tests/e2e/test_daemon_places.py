"""The same answers wherever a search is made: beside a daemon, without one, where none may be.

And whatever becomes of the daemon, or of the folder, while it is made.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests import rg
from tests.e2e.as_nobody import NOBODY
from tests.e2e.generated import EVERYWHERE, GeneratedTree
from tests.e2e.living import ROOT, RUN, Living
from tests.e2e.serving import until
from tests.ipc.forbidding import SOCKET
from triseek.ipc.spawn import AGAIN_S
from triseek.kernels import cache

pytestmark = pytest.mark.long

WORDS = (
    ["-n", "token_of_file_0007"],
    ["-l", EVERYWHERE],
    ["-c", "word1[0-9]", "dir03"],
    ["-n", "-C1", "token_of_file_001[0-5]"],
    ["-n", "nothing of the kind"],
    ["--files", "-g", "dir1*/**"],
    ["-n", "edited_just_now"],
    ["--json", "token_of_file_0009"],
    ["("],
)


@pytest.fixture
def living(tmp_path):
    with Living(tmp_path / "state") as living:
        yield living


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "tree").mkdir()
    return GeneratedTree(tmp_path / "tree", 120)


def edit(tree, text="edited_just_now"):
    (tree.root / "dir00" / "file0000.txt").write_text(f"{text}\n")


def answers(run, asked=WORDS):
    """What `run` says to all words; times of the JSON lines are left out."""
    said = {}
    for words in asked:
        told = run(*words)
        out = told.out.partition(b'{"data":{"elapsed_total"')[0] if "--json" in words else told.out
        said[tuple(words)] = (told.status, out, told.err)
    return said


def envelope(run, pattern="edited_just_now"):
    told = run("--envelope", "--engine=index", pattern)
    assert told.status == 0, told
    document = json.loads(told.out)
    paths = [each["path"] for each in document["results"]]
    return paths, document["freshness"], document["generation"]


def within(living, tree):
    return lambda *words, **more: living.run(*words, cwd=tree.root, **more)


def daemons(living):
    """Every process that is a daemon of this state folder."""
    mine = b"TRISEEK_HOME=" + living.home.encode()
    found = []
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if b"daemon\0run" not in (process / "cmdline").read_bytes():
                continue
            if mine in (process / "environ").read_bytes().split(b"\0"):
                found.append(int(process.name))
    return found


# Where a daemon is, and where it is not


def test_with_and_without_a_daemon_answers_are_the_same(living, tree):
    run = within(living, tree)
    assert run("build").status == 0
    edit(tree)
    alone = answers(lambda *words: run(*words, TRISEEK_NO_DAEMON="1"))
    swept = envelope(lambda *words: run(*words, TRISEEK_NO_DAEMON="1"))
    living.start()
    living.wait_watched(tree.root)

    assert answers(run) == alone
    assert swept == (["dir00/file0000.txt"], "swept", 1)
    until(lambda: envelope(run)[:2] == (swept[0], "synced"))  # taking in may cost one a sweep
    assert alone["-n", "edited_just_now"][1] == b"dir00/file0000.txt:1:edited_just_now\n"


@pytest.mark.skipif(sys.platform != "linux" or SOCKET is None, reason="seccomp where we know it")
@pytest.mark.parametrize("running", [True, False])
def test_in_a_sandbox_without_sockets_answers_are_the_same(living, tree, running):
    run = within(living, tree)
    assert run("build").status == 0
    if running:
        living.start()
        living.wait_watched(tree.root)
    edit(tree)
    before = sorted(os.listdir(Path(living.home) / "daemon")) if running else None
    expected = answers(lambda *words: run(*words, TRISEEK_NO_DAEMON="1"))

    assert answers(lambda *words: sandboxed(living, tree, *words)) == expected
    found = envelope(lambda *words: sandboxed(living, tree, *words))
    assert found[:2] == (["dir00/file0000.txt"], "swept")
    if running:
        assert daemons(living) == [living.pid()]
        assert sorted(os.listdir(Path(living.home) / "daemon")) == before
    else:
        assert daemons(living) == []
        assert not (Path(living.home) / "daemon").exists()


def sandboxed(living, tree, *words):
    """The command line where socket(2) fails. It may start rg, and signals nobody."""
    program = (
        "import os, sys\n"
        f"os.chdir({os.fspath(tree.root)!r}); sys.argv[1:] = {list(words)!r}\n"
        "from triseek.cli.main import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-m", "tests.ipc.forbidding", program],
        cwd=ROOT, env={**living.env, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    started = b"did subprocess.Popen\n"
    done.stdout = done.stdout.replace(started, b"")
    assert b"did " not in done.stdout
    return living.told(done)


def test_a_home_that_cannot_be_written_changes_no_answer(living, tree, tmp_path):
    """Without a right to anything in the state folder but reading; by another user, if possible."""
    run = within(living, tree)
    assert run("build").status == 0
    edit(tree)
    asked = WORDS[::3]  # each is two processes
    expected = answers(lambda *words: run(*words, TRISEEK_NO_DAEMON="1"), asked)
    open_to_read(tmp_path, Path(living.home), tree.root)  # what runs as its owner closes it again
    before = sorted(path for path in Path(living.home).rglob("*"))

    with nothing_is_written_in(Path(living.home)):
        assert answers(lambda *words: by_nobody(living, tree, *words), asked) == expected
        paths, freshness, generation = envelope(lambda *words: by_nobody(living, tree, *words))
    assert (paths, freshness, generation) == (["dir00/file0000.txt"], "swept", 1)
    assert sorted(path for path in Path(living.home).rglob("*")) == before
    assert daemons(living) == []


def open_to_read(tmp_path, state, root):
    """Let others read the state and the tree, and enter what is above."""
    kernels = state / "kernels" / cache.digest()
    if not kernels.exists():
        shutil.copytree(cache.directory(), kernels)
    for folder in (state, root):
        for path in (folder, *folder.rglob("*")):
            path.chmod(path.stat().st_mode | (0o055 if path.is_dir() else 0o044))
    scratch = Path(tempfile.gettempdir())
    for folder in (tmp_path, *tmp_path.parents):
        if scratch in folder.parents:
            folder.chmod(0o755)


@contextlib.contextmanager
def nothing_is_written_in(state):
    """Take away the right to write for the while. Where another user asks, its own is enough."""
    modes = {path: path.stat().st_mode for path in (state, *state.rglob("*"))}
    try:
        for path, mode in modes.items():
            path.chmod(mode & ~0o222)
        yield
    finally:
        for path, mode in modes.items():
            path.chmod(mode)


def by_nobody(living, tree, *words):
    env = {**living.env, "PYTHONPATH": str(ROOT), "HOME": "/nonexistent"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.e2e.as_nobody", living.home, *words], cwd=tree.root, env=env,
        stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    assert os.geteuid() != NOBODY
    return living.told(done)


# When the daemon comes to harm


@pytest.fixture
def large(living, tmp_path):
    """A tree with an answer of many megabytes, and that answer."""
    root = tmp_path / "large"
    root.mkdir()
    tree = GeneratedTree(root, 700)
    assert living.run("build", cwd=root).status == 0
    living.start()
    living.wait_watched(root)
    whole = living.run("-n", "word", cwd=root, TRISEEK_NO_DAEMON="1")
    assert len(whole.out) > 2 << 20
    assert living.run("-n", "word", cwd=root).out == whole.out
    return tree, whole.out


@contextlib.contextmanager
def reading(living, tree, words):
    """A client whose output is read by the test."""
    with subprocess.Popen(
        [*RUN, *words], cwd=tree.root, env=living.env,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
    ) as client:  # fmt: skip
        yield client


def first_of(client, size):
    pieces = b""
    while len(pieces) < size:
        pieces += client.stdout.read(size - len(pieces))
    return pieces


@pytest.mark.parametrize(
    "read_first",
    [70_000, *(pytest.param(size, marks=pytest.mark.slow) for size in (1, 1_000_000, 1_900_000))],
)
@pytest.mark.parametrize("stopped", [True, False])
def test_a_daemon_that_is_killed_in_the_middle_of_an_answer_costs_nothing(
    living, large, stopped, read_first
):
    tree, whole = large
    with reading(living, tree, ["-n", "word"]) as client:
        begun = first_of(client, read_first)
        if stopped:
            assert living.kill(signal.SIGSTOP)
            time.sleep(0.3)
        assert living.kill()
        rest, err = client.communicate(timeout=120)
    assert begun + rest == whole
    assert err == b""
    assert client.returncode == 0


def test_a_daemon_that_stops_answering_in_the_middle_is_given_up(living, large):
    tree, whole = large
    with reading(living, tree, ["-n", "word"]) as client:
        begun = first_of(client, 100_000)
        assert living.kill(signal.SIGSTOP)
        try:
            rest, err = client.communicate(timeout=120)
        finally:
            living.kill(signal.SIGCONT)
    assert begun + rest == whole
    assert (client.returncode, err) == (0, b"")
    assert living.run("-n", "word", cwd=tree.root).out == whole


def test_a_reader_that_leaves_early_ends_the_search_quietly(living, large):
    tree, whole = large
    pid = living.pid()
    for _ in range(5):
        line = shlex.join([*RUN, "-n", "word"])
        done = subprocess.run(
            ["bash", "-c", f"{line} | head -n 3; exit ${{PIPESTATUS[0]}}"],
            cwd=tree.root, env=living.env, stdin=subprocess.DEVNULL, capture_output=True,
            timeout=60, check=False,
        )  # fmt: skip
        assert done.stdout.splitlines() == whole.splitlines()[:3]
        assert (done.returncode, done.stderr) == (0, b"")
    deadline = time.monotonic() + 20
    while living.ask("status")["under_way"] > 1:
        assert time.monotonic() < deadline, "searches for nobody go on"
        time.sleep(0.1)
    assert living.pid() == pid


def test_after_a_kill_the_next_search_starts_another(living, tree):
    run = within(living, tree)
    assert run("build").status == 0
    living.start()
    first = living.pid()
    assert living.kill()
    assert run("-l", "token_of_file_0007").out == b"dir07/file0007.txt\n"
    deadline = time.monotonic() + 2 * AGAIN_S + 30
    while daemons(living) in ([], [first]):
        assert run("-l", "token_of_file_0007").out == b"dir07/file0007.txt\n"
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert living.wait_listening()["pid"] == living.pid() != first
    living.wait_watched(tree.root)


# Starting and ending


def test_starts_at_once_make_one_daemon(living):
    starts = [
        subprocess.Popen(
            [*RUN, "daemon", "start", "--json"], env=living.env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for _ in range(4)
    ]  # fmt: skip
    said = [start.communicate(timeout=120) for start in starts]
    assert [start.returncode for start in starts] == [0] * 4, said
    assert len({json.loads(out)["pid"] for out, _ in said}) == 1
    until(lambda: daemons(living) == [living.pid()])  # the others see that there is one


BYSTANDER = """
import signal, sys, time
def told(number, frame):
    print(number, flush=True)
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
    signal.signal(number, told)
print("ready", flush=True)
time.sleep(600)
"""


def test_a_foreign_process_on_a_stale_pid_is_never_signalled(living, tree):
    run = within(living, tree)
    assert run("build").status == 0
    living.start()
    record = Path(living.home) / "daemon" / "daemon.json"
    stale = json.loads(record.read_text())
    assert living.kill()
    with (
        subprocess.Popen([sys.executable, "-c", BYSTANDER], stdout=subprocess.PIPE) as bystander,
        contextlib.ExitStack() as leaving,
    ):
        leaving.callback(bystander.kill)
        assert bystander.stdout.readline() == b"ready\n"
        for start_time in (stale["start_time"], begun(bystander.pid)):
            told = {**stale, "pid": bystander.pid, "start_time": start_time}
            record.write_text(json.dumps(told))
            (record.parent / "lock").write_text(f"{bystander.pid}\n")
            for words in (["status"], ["stop"], ["stop", "--force"]):
                said = run("daemon", *words)
                assert said.out == b"triseek: no daemon running\n", said
            said = run("-l", "token_of_file_0007", CI="1")  # it starts none, and may ask
            assert said.out == b"dir07/file0007.txt\n"
        living.start()
        assert living.pid() != bystander.pid
        assert run("daemon", "restart", "--force").status == 0
        assert run("daemon", "stop", "--force").status == 0
        assert bystander.poll() is None
        os.set_blocking(bystander.stdout.fileno(), False)
        assert bystander.stdout.read() is None


def begun(pid):
    """A process's start, as daemon.json would have it."""
    return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[19])


# Roots


def by_rg(folder, *words):
    done = subprocess.run(
        [rg.program(), "--no-config", "--sort", "path", *words], cwd=folder,
        stdin=subprocess.DEVNULL, capture_output=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


def same_as_rg(living, folder, *words):
    said = living.run(*words, cwd=folder)
    assert (said.status, said.out) == by_rg(folder, *words), said.err
    assert said.status == 2 or not said.err
    return said.out


def test_nested_roots_know_of_each_others_edits(living, tree):
    inner = tree.root / "vendor" / "inner"
    (inner / "deep").mkdir(parents=True)
    (inner / "deep" / "own.txt").write_text("inner_words\n")
    for root in (tree.root, inner):
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        assert living.run("build", cwd=root).status == 0
    living.start()
    for root in (tree.root, inner):
        living.wait_watched(root)
    for number in range(4):
        (inner / "deep" / "own.txt").write_text(f"inner_words {number}\n")
        edit(tree, f"outer_words {number}")
        for folder in (tree.root, tree.root / "vendor", inner, inner / "deep"):
            same_as_rg(living, folder, "-n", f"(inner|outer)_words {number}")
        assert living.ask("status")["active_roots"] == 2


def test_a_root_that_is_deleted_and_made_again_is_searched_as_it_is(living, tree):
    run = within(living, tree)
    assert run("build").status == 0
    living.start()
    living.wait_watched(tree.root)
    for number in range(3):
        shutil.rmtree(tree.root)
        gone = living.run("-n", "made_again", tree.root, cwd=tree.root.parent)
        assert (gone.status, gone.out) == (2, b"")
        (tree.root / "new").mkdir(parents=True)
        (tree.root / "new" / "file.txt").write_text(f"made_again {number}\n")
        assert same_as_rg(living, tree.root, "-n", "made_again|token_of_file_0007")
        (tree.root / "new" / "file.txt").write_text(f"made_again {number} and edited\n")
        assert same_as_rg(living, tree.root, "-n", "and edited|token_of_file_0007")
    living.wait_watched(tree.root)
    assert same_as_rg(living, tree.root, "--files")


def test_a_root_that_is_exchanged_for_another_is_searched_as_it_is(living, tree, tmp_path):
    run = within(living, tree)
    assert run("build").status == 0
    living.start()
    living.wait_watched(tree.root)
    other = tmp_path / "other"
    shutil.copytree(tree.root, other)
    (other / "dir00" / "file0000.txt").write_text("of_the_other\n")
    for _ in range(2):
        os.rename(tree.root, tmp_path / "aside")
        os.rename(other, tree.root)
        os.rename(tmp_path / "aside", other)
        same_as_rg(living, tree.root, "-n", "of_the_other|token_of_file_0000")
        same_as_rg(living, tree.root, "-l", EVERYWHERE)


def test_a_root_reached_through_a_link_is_the_same_root(living, tree, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tree.root, target_is_directory=True)
    assert living.run("build", cwd=link).status == 0
    living.start()
    living.wait_watched(tree.root)
    for number in range(3):
        (link / "dir01" / "file0001.txt").write_text(f"through_the_link {number}\n")
        edit(tree, f"through_the_tree {number}")
        for folder in (tree.root, link, link / "dir01"):
            same_as_rg(living, folder, "-n", f"through_the_(link|tree) {number}")
        same_as_rg(living, tmp_path, "-n", f"through_the_link {number}", "link")
        same_as_rg(living, "/", "-n", f"through_the_link {number}", os.fspath(link))
    assert living.ask("status")["active_roots"] == 1
