"""The watcher's contract, on both backends; what only the native one promises comes after it."""

from __future__ import annotations

import contextlib
import mmap
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from statistics import quantiles

import pytest

from tests import namespaces
from triseek.errors import RepoNotDetected, StateUnwritable
from triseek.files.watch import inotify
from triseek.files.watch.inotify import WatchLimit
from triseek.files.watch.pending import Changes
from triseek.files.watch.watched import PROCESS, allowance
from triseek.files.watch.watcher import Watcher

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="both backends run on Linux")

QUIET = Changes()
LONG_S = 20.0
"""For a busy machine: nothing here waits that long unless it fails."""


@pytest.fixture
def root(tmp_path) -> Path:
    folder = tmp_path / "repo"
    (folder / "src" / "deep").mkdir(parents=True)
    (folder / "src" / "a.c").write_text("int a;\n")
    (folder / "src" / "b.c").write_text("int b;\n")
    return folder


@pytest.fixture
def open_watcher(root, tmp_path):
    opened = []

    def open_one(*, native=True, **options) -> Watcher:
        watcher = Watcher(os.fsencode(root), str(tmp_path / "jar"), native=native, **options)
        opened.append(watcher)
        watcher.watch(folders(root))
        return watcher

    yield open_one
    for watcher in opened:
        watcher.close()


@pytest.fixture(params=[True, False], ids=["native", "watchfiles"])
def watcher(request, open_watcher) -> Watcher:
    return open_watcher(native=request.param)


@pytest.fixture
def native(open_watcher) -> Watcher:
    return open_watcher()


def folders(root: Path) -> list[bytes]:
    found = [os.fsencode(folder.relative_to(root)) for folder in root.rglob("*") if folder.is_dir()]
    return [b"", *found]


def changes_after_sync(watcher: Watcher) -> Changes:
    assert watcher.sync(LONG_S)
    return watcher.take()


class TestBothRoads:
    def test_nothing_happened_nothing_is_told(self, watcher):
        assert watcher.alive
        assert changes_after_sync(watcher) == QUIET
        assert not watcher.wait(0.01)

    def test_a_write_is_told(self, watcher, root):
        (root / "src" / "a.c").write_text("long a;\n")
        assert changes_after_sync(watcher) == Changes(files=frozenset({b"src/a.c"}))
        assert changes_after_sync(watcher) == QUIET

    def test_what_touches_a_file_without_its_content_is_told(self, watcher, root):
        os.utime(root / "src" / "a.c", (1, 1))
        os.chmod(root / "src" / "b.c", 0o600)
        assert changes_after_sync(watcher).files == {b"src/a.c", b"src/b.c"}

    def test_a_rename_over_a_file_tells_both_names(self, watcher, root):
        (root / "new").write_text("int a;\n")
        os.replace(root / "new", root / "src" / "a.c")
        changes = changes_after_sync(watcher)
        assert changes.files == {b"new", b"src/a.c"}
        assert changes.folders == {b"", b"src"}

    def test_a_deletion_is_told(self, watcher, root):
        (root / "src" / "a.c").unlink()
        changes = changes_after_sync(watcher)
        assert (changes.files, changes.folders) == ({b"src/a.c"}, {b"src"})

    def test_a_folder_that_appears_is_a_tree(self, watcher, root):
        (root / "x" / "y").mkdir(parents=True)
        changes = changes_after_sync(watcher)
        assert b"x" in changes.trees
        assert b"" in changes.folders

    def test_a_moved_folder_is_a_tree_at_both_places(self, watcher, root):
        os.rename(root / "src" / "deep", root / "shallow")
        changes = changes_after_sync(watcher)
        assert changes.trees >= {b"src/deep", b"shallow"}
        assert changes.folders == {b"", b"src"}

    def test_a_deleted_folder_is_a_tree(self, watcher, root):
        shutil.rmtree(root / "src")
        changes = changes_after_sync(watcher)
        assert b"src" in changes.trees
        assert b"" in changes.folders

    def test_a_folder_whose_rights_change_is_a_tree(self, watcher, root):
        os.chmod(root / "src", 0o700)
        assert changes_after_sync(watcher).trees == {b"src"}

    def test_odd_names_are_told_or_said_to_be_lost(self, watcher, root):
        """watchfiles cannot say a name that is not UTF-8."""
        odd = os.fsencode(root / "src") + b"/caf\xe9\n"
        with open(odd, "w"):
            pass
        changes = changes_after_sync(watcher)
        assert changes.lost or changes.files == {b"src/caf\xe9\n"}
        os.unlink(odd)
        (root / "src" / "a.c").write_text("later\n")
        later = changes_after_sync(watcher)
        assert later.lost or b"src/a.c" in later.files

    def test_reading_makes_no_events(self, watcher, root):
        for _, _, names in os.walk(root):
            assert names is not None
        (root / "src" / "a.c").read_bytes()
        subprocess.run(["cat", root / "src" / "b.c"], check=True, capture_output=True)
        os.listdir(root / "src")
        os.stat(root / "src" / "a.c")
        assert changes_after_sync(watcher) == QUIET

    def test_wait_ends_when_something_is_told(self, watcher, root):
        later = threading.Timer(0.1, (root / "src" / "a.c").write_text, ["x"])
        later.start()
        assert watcher.wait(LONG_S)
        later.join()

    def test_every_sync_of_many_threads_sees_the_write_before_it(self, watcher, root):
        """What one took another need not be told: the union of all is compared."""
        missed = []

        def edit(number: int) -> None:
            for turn in range(20):
                (root / f"{number}-{turn}").write_text("x")
                if not watcher.sync(LONG_S):
                    missed.append(number)

        threads = [threading.Thread(target=edit, args=[number]) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert missed == []
        expected = {b"%d-%d" % (number, turn) for number in range(8) for turn in range(20)}
        assert watcher.take().files == expected

    def test_nothing_in_the_root_is_touched(self, root, tmp_path, watcher):
        (root / "src" / "a.c").write_text("x")

        def times():
            paths = [root, *root.rglob("*")]
            return {p: (os.lstat(p).st_mtime_ns, os.lstat(p).st_ctime_ns) for p in sorted(paths)}

        before = times()
        for _ in range(5):
            assert watcher.sync(LONG_S)
        watcher.close()
        assert times() == before

    def test_cookies_lie_in_a_private_folder_and_are_removed(self, watcher, tmp_path):
        for _ in range(5):
            assert watcher.sync(LONG_S)
        assert os.stat(tmp_path / "jar").st_mode & 0o777 == 0o700
        assert os.listdir(tmp_path / "jar") == []

    def test_a_moved_root_is_gone(self, watcher, root):
        os.rename(root, root.with_name("elsewhere"))
        assert_gone(watcher)

    def test_a_deleted_root_is_gone(self, watcher, root):
        shutil.rmtree(root)
        assert_gone(watcher)

    def test_a_replaced_root_is_gone(self, watcher, root):
        os.rename(root, root.with_name("old"))
        root.mkdir()
        assert_gone(watcher)

    def test_a_root_below_a_moved_folder_is_gone(self, tmp_path, request):
        inner = tmp_path / "outer" / "repo"
        inner.mkdir(parents=True)
        for native in (True, False):
            with Watcher(os.fsencode(inner), str(tmp_path / "jar"), native=native) as watcher:
                os.rename(tmp_path / "outer", tmp_path / "moved")
                assert_gone(watcher)
            os.rename(tmp_path / "moved", tmp_path / "outer")

    def test_a_folder_that_is_not_there_cannot_be_watched(self, tmp_path):
        for native in (True, False):
            with pytest.raises(RepoNotDetected, match="no such folder"):
                Watcher(os.fsencode(tmp_path / "no"), str(tmp_path / "jar"), native=native)

    def test_without_its_cookies_it_promises_nothing(self, watcher, tmp_path):
        shutil.rmtree(tmp_path / "jar")
        assert not watcher.sync(0.2)

    def test_closing_ends_threads_and_descriptors(self, tmp_path, root):
        wait_until(lambda: not [link for link in held() if "inotify" in link])
        time.sleep(0.1)  # watchfiles closes the others a moment later
        others = frozenset(os.listdir("/proc/self/fd"))  # event loops of earlier tests
        used, threads = PROCESS.used, threading.active_count()
        for native in (True, False):
            watchers = [
                Watcher(os.fsencode(root), str(tmp_path / "jar"), native=native) for _ in range(3)
            ]
            assert len([link for link in held() if "inotify" in link]) == 3
            assert threading.active_count() == threads + 3
            for watcher in watchers:
                watcher.watch(folders(root))
                watcher.close()
                watcher.close()
                assert not watcher.alive
                assert not watcher.sync()
                assert not watcher.is_watched(b"")
                watcher.watch([b"src"])
                assert watcher.take().lost
                assert not watcher.wait(5)
            wait_until(lambda: not held(others))
            assert threading.active_count() == threads
            assert PROCESS.used == used

    def test_closing_wakes_those_who_wait(self, watcher):
        answers = []
        waiting = threading.Thread(target=lambda: answers.append(watcher.wait(60)))
        waiting.start()
        begun = time.monotonic()
        watcher.close()
        waiting.join()
        assert time.monotonic() - begun < LONG_S
        assert answers == [True]  # that there is no more to come


def assert_gone(watcher: Watcher) -> None:
    begun = time.monotonic()
    assert not watcher.sync(LONG_S)
    assert not watcher.alive
    changes = watcher.take()
    assert changes.gone
    assert changes.lost
    assert watcher.take().gone
    assert not watcher.wait(LONG_S)
    assert time.monotonic() - begun < LONG_S / 2


def held(others=()) -> list[str]:
    """What a watcher keeps open; `others` are descriptors that are not looked at."""
    links = []
    for descriptor in set(os.listdir("/proc/self/fd")).difference(others):
        with contextlib.suppress(OSError):
            links.append(os.readlink(f"/proc/self/fd/{descriptor}"))
    return [link for link in links if re.search("inotify|eventfd|eventpoll|mountinfo", link)]


def wait_until(holds) -> None:
    deadline = time.monotonic() + LONG_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


EDITOR = """
import os, sys
folder = sys.argv[1]
for number, line in enumerate(sys.stdin):
    path = os.path.join(folder, line.strip())
    if number % 4 == 0:
        with open(path + "~", "w") as file:
            file.write(str(number))
        os.replace(path + "~", path)
    elif number % 4 == 1 and os.path.exists(path):
        os.unlink(path)
    else:
        with open(path, "a") as file:
            file.write("x")
    print("done", flush=True)
"""


def edits_of_another_process(watcher: Watcher, folder: Path, count: int) -> list[float]:
    """Seconds each sync took; the edit before it was told."""
    took = []
    command = [sys.executable, "-c", EDITOR, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as editor:
        for number in range(count):
            name = b"f%d" % (number % 7)
            editor.stdin.write(name + b"\n")
            editor.stdin.flush()
            assert editor.stdout.readline() == b"done\n"
            begun = time.perf_counter()
            assert watcher.sync(LONG_S)
            took.append(time.perf_counter() - begun)
            assert b"src/" + name in watcher.take().files
        editor.stdin.close()
    return took


@pytest.mark.parametrize(("backend", "count"), [(True, 2000), (False, 300)])
def test_an_edit_of_another_process_is_always_told_by_the_next_sync(
    open_watcher, root, backend, count
):
    took = edits_of_another_process(open_watcher(native=backend), root / "src", count)
    cuts = quantiles(took, n=100)
    print(f"sync, {'native' if backend else 'watchfiles'}: p50 {cuts[49] * 1e6:.0f} µs,", end=" ")
    print(f"p99 {cuts[98] * 1e6:.0f} µs")


def queue_room() -> int:
    room = inotify.limit("max_queued_events")
    if room > 200_000:
        pytest.skip("the queue is too long to fill")
    return room


def fill(folder: Path, room: int) -> None:
    """More events than the queue takes; two the same in a row would be one."""
    for turn in range(room // 2 + 4000):
        os.utime(folder / "a.c", (turn, turn))
        os.utime(folder / "b.c", (turn, turn))


class TestNative:
    def test_only_what_is_watched_is_told(self, root, tmp_path):
        with Watcher(os.fsencode(root), str(tmp_path / "jar")) as watcher:
            (root / "src" / "a.c").write_text("x")
            assert changes_after_sync(watcher) == QUIET
            watcher.watch([b"src/deep"])
            assert watcher.is_watched(b"src")  # it tells when `deep` goes
            (root / "src" / "a.c").write_text("y")
            assert changes_after_sync(watcher).files == {b"src/a.c"}

    def test_what_is_no_folder_is_passed_over(self, native, root):
        (root / "link").symlink_to("src")
        native.watch([b"nothing", b"nothing/below", b"src/a.c", b"link", b"link/deep"])
        for name in (b"nothing", b"nothing/below", b"src/a.c", b"link", b"link/deep"):
            assert not native.is_watched(name)

    def test_a_moved_folder_is_not_told_under_its_old_path(self, native, root):
        os.rename(root / "src", root / "lib")
        (root / "src").mkdir()
        (root / "lib" / "deep" / "x").write_text("x")
        changes = changes_after_sync(native)
        assert changes.trees >= {b"src", b"lib"}
        assert not native.is_watched(b"src")
        assert not native.is_watched(b"src/deep")
        (root / "lib" / "deep" / "y").write_text("x")
        assert changes_after_sync(native) == QUIET
        native.watch([b"lib/deep"])
        (root / "lib" / "deep" / "y").write_text("x")
        assert changes_after_sync(native) == Changes(files=frozenset({b"lib/deep/y"}))

    def test_a_folder_watched_at_its_new_place_before_its_move_was_read(self, native, root):
        with native._source._lock:  # the reader waits
            os.rename(root / "src" / "deep", root / "shallow")
            native._source._watch(b"shallow")
            (root / "shallow" / "x").write_text("x")
        assert changes_after_sync(native).trees == {b"src/deep", b"shallow"}
        assert not native.is_watched(b"src/deep")
        native.watch([b"shallow"])
        (root / "shallow" / "x").write_text("y")
        assert changes_after_sync(native) == Changes(files=frozenset({b"shallow/x"}))

    def test_a_deleted_folder_that_somebody_holds_open_is_watched_no_more(self, native, root):
        """The kernel keeps its inode and its watch, and says nothing of its end."""
        deep = root / "src" / "deep"
        descriptor = os.open(deep, os.O_RDONLY)
        deep.rmdir()
        deep.mkdir()
        assert changes_after_sync(native).trees == {b"src/deep"}
        assert not native.is_watched(b"src/deep")
        native.watch([b"src/deep"])
        (deep / "x").write_text("x")
        os.close(descriptor)
        assert changes_after_sync(native).files == {b"src/deep/x"}
        assert native.is_watched(b"src/deep")

    def test_a_watch_that_ends_by_itself_makes_a_tree(self, native, root):
        with native._source._lock:
            native._source._inotify.remove(native._source._watched._watches[b"src"])
        assert changes_after_sync(native).trees == {b"src"}
        assert not native.is_watched(b"src")
        assert not native.is_watched(b"src/deep")
        native.watch([b"src"])
        (root / "src" / "a.c").write_text("x")
        assert changes_after_sync(native).files == {b"src/a.c"}

    def test_folders_that_change_places_are_told_under_the_new_paths(self, native, root):
        (root / "one").mkdir()
        (root / "two").mkdir()
        assert changes_after_sync(native).trees == {b"one", b"two"}
        native.watch([b"one", b"two"])
        for _ in range(200):
            os.rename(root / "one", root / "aside")
            os.rename(root / "two", root / "one")
            os.rename(root / "aside", root / "two")
        (root / "one" / "x").write_text("x")
        assert changes_after_sync(native).trees == {b"one", b"two", b"aside"}
        native.watch([b"one", b"two", b"aside"])
        assert not native.is_watched(b"aside")
        (root / "two" / "x").write_text("x")
        assert changes_after_sync(native).files == {b"two/x"}

    def test_a_full_queue_is_a_loss_and_all_is_watched_anew(self, native, root):
        room = queue_room()
        used = PROCESS.used
        with native._source._lock:  # the reader waits
            fill(root / "src", room)
        assert changes_after_sync(native).lost
        assert native.alive
        assert native.is_watched(b"")
        assert not native.is_watched(b"src")
        assert PROCESS.used == used - 2
        native.watch(folders(root))
        assert changes_after_sync(native) == QUIET
        (root / "src" / "a.c").write_text("x")
        assert changes_after_sync(native).files == {b"src/a.c"}

    def test_a_sync_during_a_loss_is_answered(self, native, root):
        """One whose cookie is in the full queue, one whose cookie found no room."""
        room = queue_room()
        answers = []

        def ask() -> None:
            answers.append((native.sync(LONG_S), native.take().lost))

        early, late = threading.Thread(target=ask), threading.Thread(target=ask)
        with native._source._lock:
            early.start()
            wait_until(native._cookies.awaited)
            fill(root / "src", room)
            late.start()
            wait_until(lambda: len(native._cookies._waiting) == 2)
        for thread in (early, late):
            thread.join()
        assert [told for told, _ in answers] == [True, True]
        assert any(lost for _, lost in answers)
        assert native.sync(LONG_S)

    def test_too_many_names_are_a_loss_that_ends_no_watch(self, native, root, monkeypatch):
        monkeypatch.setattr("triseek.files.watch.pending.NAMES_MAX", 2000)
        for number in range(1990):
            os.mknod(root / "src" / f"{number}")
        assert native.sync(LONG_S)
        for number in range(1990, 2010):
            os.mknod(root / "src" / f"{number}")
        assert changes_after_sync(native) == Changes(lost=True)
        assert native.is_watched(b"src/deep")
        (root / "src" / "a.c").write_text("x")
        assert changes_after_sync(native).files == {b"src/a.c"}

    def test_long_names_are_a_loss_before_they_fill_the_memory(self, native, root, monkeypatch):
        monkeypatch.setattr("triseek.files.watch.pending.NAMES_BYTES_MAX", 2000)
        for number in range(20):
            os.mknod(root / "src" / f"{number}{'x' * 200}")
        assert changes_after_sync(native).lost

    def test_a_write_through_a_mapping_is_told_when_the_file_is_closed(self, native, root):
        """inotify(7) does not promise even this much, but the kernel does it."""
        with open(root / "src" / "a.c", "r+b") as file:
            mapped = mmap.mmap(file.fileno(), 0)
        mapped[0:3] = b"INT"
        mapped.flush()
        assert changes_after_sync(native) == QUIET
        mapped.close()
        assert changes_after_sync(native).files == {b"src/a.c"}

    def test_a_file_without_a_name_is_told_when_it_gets_one(self, native, root):
        descriptor = os.open(root / "src", os.O_TMPFILE | os.O_RDWR)
        os.write(descriptor, b"x")
        # Naming a folder makes Python call `linkat`, which follows the link.
        os.link(f"/proc/self/fd/{descriptor}", root / "src" / "new", src_dir_fd=descriptor)
        os.close(descriptor)
        changes = changes_after_sync(native)
        assert b"src/new" in changes.files
        assert changes.folders == {b"src"}

    def test_a_root_within_which_the_cookies_lie_is_not_told_of_them(self, root):
        jar = root / "state" / "jar"
        with Watcher(os.fsencode(root), str(jar)) as watcher:
            watcher.watch([b"state/jar"])
            assert changes_after_sync(watcher) == QUIET
            os.rename(root / "src", root / "lib")
            (root / "state" / "x").write_text("x")
            assert changes_after_sync(watcher).files == {b"state/x"}
            os.rename(root / "state", root / "aside")
            os.rename(root / "aside", root / "state")
            assert changes_after_sync(watcher).trees >= {b"state", b"aside"}
            assert changes_after_sync(watcher) == QUIET
            assert watcher.alive

    def test_a_state_folder_that_cannot_be_made_is_named(self, root, tmp_path):
        (tmp_path / "file").touch()
        with pytest.raises(StateUnwritable, match="cannot make"):
            Watcher(os.fsencode(root), str(tmp_path / "file" / "jar"))

    def test_the_budget_is_that_of_the_process(self, root, tmp_path):
        for name in ("a", "b", "c"):
            (root / name).mkdir()
        jar = str(tmp_path / "jar")
        with Watcher(os.fsencode(root), jar, budget=PROCESS.used + 3) as watcher:
            with pytest.raises(WatchLimit, match=r"the budget of .* is used up"):
                watcher.watch([b"a", b"b", b"c"])
            assert [watcher.is_watched(name) for name in (b"", b"a", b"b", b"c")] == [1, 1, 1, 0]
            watcher.watch([b"a", b"b"])
            with pytest.raises(WatchLimit):
                Watcher(os.fsencode(root), jar, budget=PROCESS.used)
            os.rmdir(root / "a")
            assert changes_after_sync(watcher).trees == {b"a"}
            watcher.watch([b"c"])
            assert watcher.is_watched(b"c")

    def test_no_process_may_have_more_than_a_quarter_of_the_watches(self):
        users = inotify.limit("max_user_watches")
        assert allowance(10**9) == users // 4
        assert allowance(1) == 1

    def test_a_watch_is_not_handed_to_a_child(self, native):
        shown = subprocess.run(
            ["sh", "-c", "ls -l /proc/self/fd"],
            check=True,
            capture_output=True,
            text=True,
            close_fds=False,
        ).stdout
        assert "inotify" not in shown
        assert "eventfd" not in shown
        assert "mountinfo" not in shown

    def test_its_thread_has_a_name_and_holds_up_nobody(self, native, root):
        (thread,) = [t for t in threading.enumerate() if t.name == f"watch {root}"]
        assert thread.daemon

    def test_a_cookie_folder_that_moved_ends_it(self, native, tmp_path):
        os.rename(tmp_path / "jar", tmp_path / "elsewhere")
        assert not native.sync(LONG_S)
        wait_until(lambda: not native.alive)


def in_namespace(script: str, *words: str, setup: str = "true") -> None:
    """Run a script of this project as root of a user namespace of its own: it may mount there,
    and lower its own limits."""
    shell = f'{setup} && exec "$@"'
    command = namespaces.command("sh", "-c", shell, "sh", sys.executable, "-c", script, *words)
    if refusal := namespaces.refusal():
        pytest.skip(f"no user namespaces here: {refusal}")
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, env=environment, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "ok\n"


BEGIN = """
import os, subprocess, sys
from triseek.files.mounts import obstacle
from triseek.files.watch.inotify import WatchLimit
from triseek.files.watch.pending import Changes
from triseek.files.watch.watcher import Watcher
root, jar = os.fsencode(sys.argv[1]), sys.argv[2]
def sh(*words):
    subprocess.run(words, check=True)
def refused(call):
    try:
        call()
    except WatchLimit as error:
        return str(error)
"""


def test_the_kernels_limit_of_watches_is_met(root, tmp_path):
    script = (
        BEGIN
        + """
watcher = Watcher(root, jar)  # two: the root's and the cookies'
watcher.watch([b"src"])
reason = refused(lambda: watcher.watch([b"src/deep"]))
assert "max_user_watches" in reason and "\\n" not in reason, reason
assert watcher.is_watched(b"src") and not watcher.is_watched(b"src/deep")
assert watcher.sync(20)
print("ok")
"""
    )
    lower = "echo 3 > /proc/sys/user/max_inotify_watches"
    in_namespace(script, str(root), str(tmp_path / "jar"), setup=lower)


def test_the_kernels_limit_of_instances_is_met(root, tmp_path):
    script = (
        BEGIN
        + """
first, second = Watcher(root, jar), Watcher(root, jar)
held = len(os.listdir("/proc/self/fd"))
reason = refused(lambda: Watcher(root, jar))
assert "max_user_instances" in reason, reason
assert len(os.listdir("/proc/self/fd")) == held
second.close()
Watcher(root, jar).close()
print("ok")
"""
    )
    lower = "echo 2 > /proc/sys/user/max_inotify_instances"
    in_namespace(script, str(root), str(tmp_path / "jar"), setup=lower)


def test_a_mount_below_the_root_is_a_loss_and_elsewhere_it_is_nothing(root, tmp_path):
    (tmp_path / "other").mkdir()
    script = (
        BEGIN
        + """
deep = root + b"/src/deep"
watcher = Watcher(root, jar)
watcher.watch([b"src/deep"])
sh("mount", "-t", "tmpfs", "none", sys.argv[3])
assert watcher.sync(20) and watcher.take() == Changes()
sh("mount", "-t", "tmpfs", "none", deep)
assert watcher.sync(20) and watcher.take().lost
watcher.watch([b"src/deep"])
open(deep + b"/x", "w").close()
assert watcher.sync(20)
assert watcher.take() == Changes(frozenset([b"src/deep/x"]), frozenset([b"src/deep"]))
sh("umount", deep)
assert watcher.sync(20) and watcher.take().lost
print("ok")
"""
    )
    in_namespace(script, str(root), str(tmp_path / "jar"), str(tmp_path / "other"))


def test_a_folder_mounted_twice_is_told_under_both_paths(root, tmp_path):
    (root / "again").mkdir()
    script = (
        BEGIN
        + """
sh("mount", "--bind", root + b"/src", root + b"/again")
watcher = Watcher(root, jar)
watcher.watch([b"src", b"again"])
open(root + b"/src/a.c", "a").close()
os.utime(root + b"/src/a.c")
assert watcher.sync(20) and watcher.take().files == {b"src/a.c", b"again/a.c"}
os.rename(root + b"/src", root + b"/moved")
assert watcher.sync(20) and watcher.take().trees == {b"src", b"moved", b"again"}
print("ok")
"""
    )
    in_namespace(script, str(root), str(tmp_path / "jar"))


def test_an_unmounted_root_is_gone(root, tmp_path):
    script = (
        BEGIN
        + """
sh("mount", "-t", "tmpfs", "none", root)
watcher = Watcher(root, jar)
sh("umount", root)
assert not watcher.sync(20) and watcher.take().gone and not watcher.alive
print("ok")
"""
    )
    in_namespace(script, str(root), str(tmp_path / "jar"))


def test_a_mount_whose_changes_make_no_events_is_an_obstacle(root, tmp_path):
    script = (
        BEGIN
        + """
assert obstacle(root) == ""
sh("mount", "-t", "tmpfs", "none", root + b"/src")
assert obstacle(root) == ""
sh("mount", "--rbind", "/proc", root + b"/src/")
assert "proc" in obstacle(root) and "proc" in obstacle(root + b"/src")
assert "proc" in obstacle(b"/proc/self") and obstacle(b"/proc/no/such")
print("ok")
"""
    )
    in_namespace(script, str(root), str(tmp_path / "jar"))
