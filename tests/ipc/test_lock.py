"""The lock says whether a daemon lives; the file's content does not."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from triseek import paths
from triseek.ipc import folder, lock


@pytest.fixture(autouse=True)
def _folder(home):
    folder.ensure()


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
