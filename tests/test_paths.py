"""Where the state folder is, and what lies in it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from triseek import paths

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_the_variable_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRISEEK_HOME", "state")
    monkeypatch.chdir(tmp_path)

    assert paths.home() == os.path.join(os.getcwd(), "state")


def test_without_it_the_folder_is_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    for value in (None, ""):
        if value is None:
            monkeypatch.delenv("TRISEEK_HOME")
        else:
            monkeypatch.setenv("TRISEEK_HOME", value)
        assert paths.home() == "/home/somebody/.triseek"


def test_all_parts_are_inside_and_no_two_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRISEEK_HOME", "/state")
    parts = [
        paths.index_of("key"), paths.kernel_cache("digest"), paths.memo(), paths.sessions(),
        paths.snapshots(), paths.exports(), paths.keys(), paths.logs(), paths.config_file(),
    ]  # fmt: skip

    assert all(part.startswith("/state/") for part in parts)
    assert len(set(parts)) == len(parts)
    assert paths.index_of("key") == os.path.join(paths.indexes(), "key")
    assert {os.path.dirname(part) for part in (paths.memo(), paths.sessions())} == {paths.daemon()}
