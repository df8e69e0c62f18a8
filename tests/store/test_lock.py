import os
import shutil
import signal
import subprocess
import sys

import pytest

from triseek import errors
from triseek.store import lock

HOLD = """
import sys, time
from triseek.store import lock
with lock.writer(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", HOLD, tmp_path], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"held\n"
    yield process
    process.kill()
    process.communicate()


def test_another_process_is_told_who_holds_the_lock(tmp_path, holder):
    with pytest.raises(errors.Busy, match=f"process {holder.pid}"), lock.writer(tmp_path):
        pass


def test_a_lock_ends_with_its_process_however_that_ends(tmp_path, holder):
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    with lock.writer(tmp_path):
        assert (tmp_path / "lock").read_text() == f"{os.getpid()}\n"


def test_a_lock_is_free_again_after_an_error_and_makes_its_folder(tmp_path):
    folder = tmp_path / "new" / "folder"
    with lock.writer(folder), pytest.raises(errors.Busy), lock.writer(folder):
        pass

    def fail():
        with lock.writer(folder):
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    with lock.writer(folder):
        pass


def test_a_lock_of_a_file_that_was_removed_is_none(tmp_path, monkeypatch):
    """Who waits for nothing may still open the file of a folder that is being removed."""
    folder, take = tmp_path / "index", lock.try_lock
    removed = []

    def remove_before(descriptor):
        if not removed:
            removed.append(folder)
            shutil.rmtree(folder)
        return take(descriptor)

    monkeypatch.setattr(lock, "try_lock", remove_before)
    with lock.writer(folder):
        assert (folder / "lock").exists()
        with pytest.raises(errors.Busy), lock.writer(folder):
            pass

    assert removed


def test_a_folder_that_is_removed_again_and_again_is_an_error(tmp_path, monkeypatch):
    folder = tmp_path / "index"
    monkeypatch.setattr(lock, "try_lock", lambda _: shutil.rmtree(folder) or True)
    before = set(os.listdir("/proc/self/fd"))
    with pytest.raises(errors.StateUnwritable, match="removed"), lock.writer(folder):
        pass

    assert set(os.listdir("/proc/self/fd")) == before


def test_a_folder_that_cannot_be_made_is_said_in_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    below = lock.writer(tmp_path / "file" / "below")
    with pytest.raises(errors.StateUnwritable, match="Not a directory"), below:
        pass


def test_locks_of_other_names_do_not_get_in_each_others_way(tmp_path, holder):
    with (
        lock.writer(tmp_path, "frecency.lock"),
        pytest.raises(errors.Busy),
        lock.writer(tmp_path, "frecency.lock"),
    ):
        pass
