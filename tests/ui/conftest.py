"""The page of a small repository, and of one that is worked in."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from tests.app.worked import Worked
from tests.ui.opened import Opened
from triseek.errors import DaemonUnreachable
from triseek.ipc import client

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


@pytest.fixture
def opened(repo: Callable[..., str]) -> Opened:
    """The page of a tree without an index."""
    tree = {
        "src/retry.py": "def retry(times):\n    return retries(times)\n",
        "src/notes.md": "Retry, später\n",
        "other.txt": "nothing here\n",
    }
    return Opened(os.path.realpath(repo(tree)))


@pytest.fixture
def worked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Worked:
    """A repository in which somebody works; the daemon's session verbs answer."""
    work = Worked(tmp_path)

    def ask(verb: str, params: Mapping[str, Any], timeout_s: float = 0.0) -> Any:
        if not verb.startswith("session_"):
            raise DaemonUnreachable("only sessions are told here")
        return work.ask(verb, **params)

    monkeypatch.setattr(client, "ask", ask)
    return work
