"""Files somebody is working on."""

from __future__ import annotations

import subprocess

import pytest

from triseek.engine.context_pack import changed_files
from triseek.errors import InvalidRequest


@pytest.fixture
def root(tmp_path):
    """A folder; none of the files that the tests name is in it."""
    folder = tmp_path / "root of it"
    folder.mkdir()
    return str(folder.resolve())


@pytest.mark.parametrize(
    "spelt", ["a/b.py", "./a/b.py", "a//x/../b.py", "  a/b.py ", "{root}/a/b.py"]
)
def test_every_spelling_is_one_path(root, spelt):
    assert changed_files.changed_files(root, [spelt.format(root=root), "a/b.py"]) == [b"a/b.py"]


def test_order_is_the_callers_and_bytes_survive(root):
    assert changed_files.changed_files(root, ["z", "", "caf\udce9", "a"]) == [
        b"z",
        b"caf\xe9",
        b"a",
    ]


@pytest.mark.parametrize("path", ["..", "../x", "/etc/passwd", "a/../../x", ".", "\0", "\ud800"])
def test_what_leads_out_is_refused(root, path):
    with pytest.raises(InvalidRequest):
        changed_files.changed_files(root, [path])


def test_uncommitted_is_what_git_says_and_nothing_where_there_is_too_much(tmp_path, monkeypatch):
    def git(*words):
        me = ["-c", "user.name=n", "-c", "user.email=e"]
        subprocess.run(["git", "-C", str(tmp_path), *me, *words], check=True)

    assert changed_files.uncommitted(str(tmp_path)) == []
    git("init", "-q")
    assert changed_files.uncommitted(str(tmp_path)) == []
    (tmp_path / "a").write_text("1\n")
    git("add", ".")
    git("commit", "-qm", "first")
    (tmp_path / "a").write_text("2\n")
    (tmp_path / "new").write_text("\n")

    assert changed_files.uncommitted(str(tmp_path)) == [b"a", b"new"]
    monkeypatch.setattr(changed_files, "UNCOMMITTED_MAX", 1)
    assert changed_files.uncommitted(str(tmp_path)) == []
