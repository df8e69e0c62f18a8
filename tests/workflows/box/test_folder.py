"""The script's folder: measured, and removed whatever is in it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from triseek.workflows.box.folder import MAX_ENTRIES, Folder


def test_it_is_private_and_ends() -> None:
    with Folder() as folder:
        assert Path(folder.path).stat().st_mode & 0o777 == 0o700
        assert not folder.is_full()
        (Path(folder.path) / "file").write_bytes(b"x")
        assert not folder.is_full()
    assert not Path(folder.path).exists()


@pytest.mark.parametrize("kind", ["bytes", "files", "depth"])
def test_it_is_full(kind: str) -> None:
    with Folder() as folder:
        top = Path(folder.path)
        if kind == "bytes":
            for number in range(5):
                (top / str(number)).write_bytes(bytes(15 << 20))
        elif kind == "files":
            for number in range(MAX_ENTRIES + 1):
                (top / str(number)).touch()
        else:
            top.joinpath(*"d" * 20).mkdir(parents=True)
        assert folder.is_full()
    assert not top.exists()


def test_what_it_links_to_stays() -> None:
    with tempfile.TemporaryDirectory() as other:
        (Path(other) / "kept").touch()
        with Folder() as folder:
            top = Path(folder.path)
            (top / "inner").mkdir()
            for link in (top / "link", top / "inner" / "link"):
                link.symlink_to(other)
            (top / "broken").symlink_to("nowhere")
            os.mkfifo(top / "pipe")
            (top / b"\xff".decode(errors="surrogateescape")).touch()
            assert not folder.is_full()
        assert not top.exists()
        assert (Path(other) / "kept").exists()
