"""The index and the daemon as the page shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek import __version__
from triseek.ipc import client
from triseek.ui import state

if TYPE_CHECKING:
    import pytest

    from tests.ui.opened import Opened


def test_about_without_a_daemon_says_so(opened: Opened) -> None:
    reply = state.about(opened.root)

    assert reply == opened.told("about")
    assert reply["version"] == __version__
    assert reply["root"] == opened.root
    assert (reply["daemon"], reply["watched"], reply["generation"]) == (False, False, None)


def test_the_status_says_why_the_daemon_cannot_be_asked(opened: Opened) -> None:
    reply = opened.told("status")

    assert reply["daemon"]["running"] is False
    assert reply["daemon"]["reason"]
    assert reply["index"]["repo_root"] == opened.root


def test_what_a_daemon_says_is_passed_on(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    status = {"warm": True, "root": {"watched": True, "generation": 7, "dirty": 2}}
    monkeypatch.setattr(client, "ask", lambda *_, **__: status)

    about = opened.told("about")

    assert opened.told("status")["daemon"] == {"running": True, **status}
    assert (about["daemon"], about["watched"], about["generation"], about["dirty"]) == (
        True, True, 7, 2
    )  # fmt: skip
