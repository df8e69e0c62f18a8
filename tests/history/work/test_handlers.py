"""The handlers of history-work: this project comes first, and other projects' answers after it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.history.recorded import Recorded
from triseek.engine.tool_host import ToolHost
from triseek.errors import InvalidQuery
from triseek.history.context import HistoryContext
from triseek.history.synthesis.synthesize import synthesize
from triseek.history.work import handlers, requests
from triseek.model.call import Call

if TYPE_CHECKING:
    from pathlib import Path

    from triseek.store.sqlite import Database

ERROR = "ImportError: cannot import name 'Router'"


@pytest.fixture
def context(database: Database, tmp_path: Path) -> HistoryContext:
    (tmp_path / "here" / ".git").mkdir(parents=True)
    (tmp_path / "here" / "a.py").touch()
    for name in ("here", "there"):
        root = str(tmp_path / name)
        session = Recorded(database, name, root=root).prompt(f"mend it {name}")
        if name == "there":
            session.run("cargo build")
        session.run("pytest -k router", f"E   {ERROR}\n", 1)
        session.edit(f"{root}/a.py", "x = 1", "x = 2")
        session.run("pytest -k router", "1 passed")
        assert session.id is not None
        synthesize(database, session.id)
    services = {"history": SimpleNamespace(database=database)}
    return HistoryContext(ToolHost(service=None, root=str(tmp_path / "here"), services=services))  # type: ignore[arg-type]


def sessions(reply: Any, name: str) -> list[str]:
    return [entry["conversation"]["external_id"] for entry in reply["answer"][name]]


def test_a_fix_of_this_project_hides_those_of_others(context: HistoryContext) -> None:
    reply = handlers.history_fix(context, requests.HistoryFixRequest(error=ERROR), Call())

    assert sessions(reply, "fixes") == ["here"]


def test_what_only_another_project_ran_is_shown(context: HistoryContext) -> None:
    own = handlers.history_how(context, requests.HistoryHowRequest(command="pytest"), Call())
    other = handlers.history_how(context, requests.HistoryHowRequest(command="cargo"), Call())

    assert (sessions(own, "variants"), sessions(other, "variants")) == (["here"], ["there"])


def test_a_path_is_that_of_a_file_of_this_project_if_there_is_one(
    context: HistoryContext,
) -> None:
    own = handlers.history_blame(context, requests.HistoryBlameRequest(path="a.py"), Call())
    other = handlers.history_blame(context, requests.HistoryBlameRequest(path="there/a.py"), Call())

    assert (sessions(own, "changes"), sessions(other, "changes")) == (["here"], ["there"])


@pytest.mark.parametrize("path", ["\0", "../../etc/passwd", "/dev/zero", "x" * 5_000])
def test_a_path_of_nothing_is_no_error(context: HistoryContext, path: str) -> None:
    reply = handlers.history_blame(context, requests.HistoryBlameRequest(path=path), Call())

    assert not reply["found"]


def test_an_empty_argument_is_refused(context: HistoryContext) -> None:
    with pytest.raises(InvalidQuery, match="error must not be empty"):
        handlers.history_fix(context, requests.HistoryFixRequest(error=" "), Call())
