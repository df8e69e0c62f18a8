import ctypes
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from triseek.kernels import cache

pytestmark = pytest.mark.long


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kernels"))
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "0")
    monkeypatch.setattr(cache, "_trusted", set())
    cache.directory.cache_clear()
    yield tmp_path / "kernels"
    cache.directory.cache_clear()


def test_kernels_are_ready_once_that_is_said_and_only_for_these_sources(folder, monkeypatch):
    assert not cache.is_ready()
    cache.mark_ready()
    assert cache.is_ready()
    monkeypatch.setattr(cache, "digest", lambda: "another")
    assert not cache.is_ready()


def test_kernels_of_an_older_installation_of_the_same_sources_are_not_ready(folder, monkeypatch):
    cache.mark_ready()
    monkeypatch.setattr(cache, "_installation", lambda: "installed anew")
    assert not cache.is_ready()


def test_an_installation_is_its_place_and_the_age_of_its_sources(tmp_path, monkeypatch):
    told = set()
    for folder, age in (("one", 1), ("one", 2), ("other", 1)):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "a.py").write_text("same")
        os.utime(tmp_path / folder / "a.py", ns=(age, age))
        monkeypatch.setattr(cache, "__file__", str(tmp_path / folder / "cache.py"))
        cache._installation.cache_clear()
        told.add(cache._installation())
    cache._installation.cache_clear()
    assert len(told) == 3


def test_without_the_jit_nothing_has_to_be_compiled(folder, monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert cache.is_ready()


def test_the_folder_is_named_for_the_kernels_below_the_state_folder(home, monkeypatch):
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    cache.directory.cache_clear()
    assert Path(cache.directory()) == home / "kernels" / cache.digest()
    cache.directory.cache_clear()


def test_a_changed_source_gives_another_digest(tmp_path, monkeypatch):
    (tmp_path / "a.py").write_text("one")
    monkeypatch.setattr(cache, "__file__", str(tmp_path / "cache.py"))
    digests = []
    for text in ("one", "two", "one"):
        (tmp_path / "a.py").write_text(text)
        cache.digest.cache_clear()
        digests.append(cache.digest())
    cache.digest.cache_clear()
    assert digests[0] == digests[2] != digests[1]


def test_an_unwritable_folder_is_no_error(folder, monkeypatch):
    folder.parent.joinpath("file").write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder.parent / "file" / "below"))
    cache.directory.cache_clear()
    cache.mark_ready()
    assert not cache.is_ready()
    with cache.exclusive():
        pass


def test_only_one_process_compiles_at_a_time(folder):
    code = "from triseek.kernels import cache\nwith cache.exclusive(): print('in', flush=True)"
    with cache.exclusive():
        other = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        with pytest.raises(subprocess.TimeoutExpired):
            other.communicate(timeout=1.5)
    assert other.communicate(timeout=60)[0] == b"in\n"


def test_asking_imports_neither_numba_nor_numpy():
    """A search asks this first, in a process that may live for milliseconds."""
    code = (
        "import sys; from triseek.kernels import cache; cache.is_ready(); "
        "print({'numba', 'numpy'} & set(sys.modules))"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    assert output == b"set()\n"


LOAD = (
    "from triseek.kernels import cache, needles\n"
    "from triseek.kernels.jit import REGISTRY\n"
    "print(cache.is_ready(), all(kernel.stats.cache_hits for kernel in REGISTRY))\n"
)
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1


def load_without_writing(folder):
    """Load a kernel in a process to which folders' modes mean something, even if it is root's."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "NUMBA_DISABLE_JIT": "0"}
    libc = ctypes.CDLL(None)
    done = subprocess.run(
        [sys.executable, "-c", LOAD],
        env=environment,
        preexec_fn=lambda: libc.prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0),
        capture_output=True,
        check=False,
    )
    return done.stdout, done.stderr


@pytest.fixture
def kept(folder):
    """A folder with a compiled kernel that is said to be ready, and may only be read."""
    subprocess.run([sys.executable, "-c", LOAD], check=True, capture_output=True)
    cache.mark_ready()
    below = [folder, *folder.rglob("*")]
    for path in below:
        path.chmod(0o555 if path.is_dir() else 0o444)
    yield folder
    for path in filter(Path.is_dir, below):
        path.chmod(0o755)


def test_kernels_in_a_folder_that_may_only_be_read_are_used(kept):
    assert load_without_writing(kept) == (b"True True\n", b"")


def test_a_kernel_that_is_missing_there_is_compiled_for_the_process(kept):
    for path in list(kept.rglob("*.nb?")):
        path.parent.chmod(0o755)
        path.unlink()
        path.parent.chmod(0o555)

    assert load_without_writing(kept) == (b"True False\n", b"")


def test_kernels_another_user_put_there_are_not_loaded(folder, monkeypatch):
    cache.mark_ready()
    assert cache.is_kept()
    cache._trusted.clear()
    monkeypatch.setattr(os, "geteuid", lambda: os.stat(folder).st_uid + 1)
    assert cache.is_kept() == (os.stat(folder).st_uid == 0)


class Hostile:
    """Numba reads an index file by unpickling it; this one leaves a mark."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (self.mark,)


OTHER = 65533
HANDS = {
    "a folder that others may write": lambda folder: folder.chmod(0o777),
    "one above it": lambda folder: folder.parent.chmod(0o757),
    "a link in it": lambda folder: folder.joinpath("more").symlink_to(folder.parent),
    "another's folder": lambda folder: os.chown(folder, OTHER, OTHER),
    "another's above it": lambda folder: os.chown(folder.parent, OTHER, OTHER),
    "another's file": lambda folder: os.chown(next(folder.rglob("*.nbi")), OTHER, OTHER),
    "another's folder in it": lambda folder: os.chown(next(folder.glob("*/")), OTHER, OTHER),
}


@pytest.mark.parametrize(
    "how",
    [
        pytest.param(how, marks=pytest.mark.root if how.startswith("another") else ())
        for how in HANDS
    ],
)
def test_what_others_may_have_written_is_never_unpickled(folder, tmp_path, how):
    """The cache says it is ready, and each of its index files is hostile."""
    subprocess.run([sys.executable, "-c", LOAD], check=True, capture_output=True)
    cache.mark_ready()
    mark = tmp_path / "ran"
    for index in list(folder.rglob("*.nbi")):
        index.write_bytes(pickle.dumps(Hostile(str(mark))))
    HANDS[how](folder)
    cache._trusted.clear()
    before = sorted(path.name for path in folder.rglob("*"))

    done = subprocess.run([sys.executable, "-c", LOAD], check=True, capture_output=True)

    assert done.stdout == b"False False\n"
    assert not mark.exists()
    assert sorted(path.name for path in folder.rglob("*")) == before
    assert not cache.is_ready()
    assert not cache.can_be_kept()


def test_a_cache_that_is_not_trusted_is_trusted_once_it_is_removed(folder):
    folder.mkdir()
    folder.chmod(0o777)
    cache.mark_ready()
    assert not cache.is_kept()
    assert list(folder.iterdir()) == []
    folder.rmdir()

    cache.mark_ready()

    assert cache.is_kept()
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_process_that_has_loaded_them_need_not_wait_where_none_can_be_kept(folder, monkeypatch):
    folder.parent.joinpath("file").write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder.parent / "file" / "below"))
    cache.directory.cache_clear()
    assert not cache.can_be_kept()
    assert not cache.is_ready()
    cache.mark_loaded()
    assert cache.is_ready()
