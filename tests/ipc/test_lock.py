"""The lock says whether a daemon lives; the file's content does not."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest

from triseek import paths
from triseek.errors import StateUnwritable
from triseek.ipc import lock


@pytest.fixture(autouse=True)
def _folder(home):
    lock.ensure_folder()


def test_one_at_a_time(home):
    first = lock.take()

    assert first is not None
    assert lock.take() is None
    assert not lock.is_free()
    assert lock.holder() == os.getpid()
    os.close(first)
    assert lock.is_free()


def test_what_the_file_says_is_no_proof(home):
    (home / "daemon" / "lock").write_text("1\n")

    assert lock.holder() == 1
    assert lock.is_free()
    descriptor = lock.take()
    assert descriptor is not None
    os.close(descriptor)


def test_it_ends_with_its_process_however_that_ends():
    code = "from triseek.ipc import lock; lock.take(); print(1, flush=True); input()"
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with child:
        child.stdout.read(1)
        assert not lock.is_free()
        assert not lock.wait_until_free(0.05)
        child.kill()
        assert lock.wait_until_free(10)


def test_it_is_not_handed_on_to_a_program_that_is_started():
    descriptor = lock.take()
    assert descriptor is not None
    with subprocess.Popen(["sleep", "60"], close_fds=False) as child:
        os.close(descriptor)
        assert lock.is_free()
        child.kill()


def test_a_link_in_its_place_is_not_followed(home, tmp_path):
    os.symlink(tmp_path / "elsewhere", os.path.join(paths.daemon(), "lock"))

    with pytest.raises(OSError, match="symbolic links"):
        lock.take()
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("content", ["", "x", "-1", "9" * 40])
def test_a_holder_that_is_no_number_is_nobody(content, home):
    (home / "daemon" / "lock").write_text(content)

    assert lock.holder() in (0, int("9" * 32))


@pytest.fixture
def bare_home(home):
    """A state folder without that of the daemon."""
    os.rmdir(paths.daemon())
    return home


def test_the_folder_is_made_for_its_owner_only(bare_home, monkeypatch):
    monkeypatch.setenv("TRISEEK_HOME", str(bare_home / "not" / "yet"))

    assert stat.S_IMODE(os.stat(lock.ensure_folder()).st_mode) == 0o700


def test_a_folder_open_to_others_is_closed(bare_home):
    os.mkdir(paths.daemon(), 0o755)
    os.chmod(paths.daemon(), 0o777)

    assert stat.S_IMODE(os.stat(lock.ensure_folder()).st_mode) == 0o700


def test_a_link_is_refused_wherever_it_leads(bare_home, tmp_path):
    os.symlink(tmp_path, paths.daemon())

    with pytest.raises(StateUnwritable, match="is a link"):
        lock.ensure_folder()


def test_a_file_is_refused(bare_home):
    (bare_home / "daemon").write_text("")

    with pytest.raises(StateUnwritable, match="is no folder"):
        lock.ensure_folder()


@pytest.mark.root
def test_a_folder_of_another_user_is_refused_and_left_as_it_is(bare_home):
    os.mkdir(paths.daemon(), 0o777)
    os.chown(paths.daemon(), 65534, 65534)
    before = os.stat(paths.daemon())

    with pytest.raises(StateUnwritable, match="belongs to another user"):
        lock.ensure_folder()
    assert os.stat(paths.daemon()).st_mode == before.st_mode


def test_a_home_that_cannot_be_made_is_said(bare_home, monkeypatch):
    (bare_home / "file").write_text("")
    monkeypatch.setenv("TRISEEK_HOME", str(bare_home / "file" / "below"))

    with pytest.raises(StateUnwritable, match="cannot use the folder"):
        lock.ensure_folder()
