"""The doctor says what is not imported yet, and opens nothing for that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.history.claude_mem_files import Made
from triseek.agents.base import InstallPlace
from triseek.history import doctor
from triseek.history.service import History

if TYPE_CHECKING:
    from pathlib import Path


def said(history: History, home: Path) -> list[tuple[str, str]]:
    place = InstallPlace("", str(home), str(home), {})
    findings = doctor.conversations(history, place)
    return [(each.level, each.detail) for each in findings if each.what == "history of claude-mem"]


def test_a_database_of_claude_mem_is_named_until_it_is_imported(home: Path) -> None:
    history = History()
    assert said(history, home) == []
    folder = home / ".claude-mem"
    folder.mkdir()
    path = folder / "claude-mem.db"
    path.write_text("not even a database")
    [(_, detail)] = said(history, home)
    assert detail.startswith("not imported")
    path.unlink()
    made = Made(path, "v5.3").fill()
    history.import_claude_mem(str(path))
    assert said(history, home)[0][1] == "all imported"
    made.add("observations", memory="m-1", project="shop", type="change", title="New")
    assert said(history, home)[0][1].startswith("not imported, or new")
    history.close()
