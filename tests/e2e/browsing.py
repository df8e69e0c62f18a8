"""A browser before the page of a repository in which somebody works."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e import serving
from triseek.ipc.client import ask

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import BrowserContext, Page

WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.violations.push(`${event.violatedDirective}: ${event.blockedURI}`));
"""


class World:
    """A repository, a state folder with a daemon, and the page's server."""

    def __init__(self, home: Path, root: Path) -> None:
        self.home = home
        self.root = root

    def ask(self, verb: str, **params: Any) -> Any:
        """Ask the daemon."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TRISEEK_HOME", str(self.home))
            return ask(verb, {"target_root": str(self.root), **params}, timeout_s=30.0)

    def note(self, session_id: str, kind: str, **payload: Any) -> None:
        notes = [{"kind": kind, "payload": payload, "at_s": time.time()}]
        assert self.ask("session_note", session_id=session_id, notes=notes) == {"recorded": 1}

    def triseek(self, *words: str) -> None:
        serving.triseek(self.home, *words)

    @contextlib.contextmanager
    def page(self, *words: str) -> Iterator[str]:
        """The link of the page, while it is served; its end has to be a clean one."""
        process = subprocess.Popen(
            [sys.executable, "-m", "triseek", "ui", str(self.root), "--no-open", "--json", *words],
            env={**os.environ, **serving.environ(self.home)},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            assert process.stdout is not None
            told = ""
            for line in process.stdout:
                told += line
                if line == "}\n":
                    break
            yield json.loads(told)["url"]
        finally:
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=30)
        assert (process.returncode, said) == (0, "")


def told(url: str, question: str) -> Any:
    """What a page's server says to who has its link."""
    place, _, token = url.partition("#token=")
    known = {"Authorization": f"Bearer {token}"}
    request = urllib.request.Request(f"{place}api/{question}", headers=known)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


class Visit:
    """One tab, and everything that should not happen in it."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.url = url
        self.own = url.partition("#")[0]
        self.asked: list[str] = []
        self.said: list[str] = []
        context.add_init_script(WATCH)
        context.on("request", lambda request: self.asked.append(request.url))
        context.on("weberror", lambda error: self.said.append(str(error.error)))
        context.on("dialog", lambda dialog: self.said.append(f"dialog: {dialog.message}"))
        self.page: Page = context.new_page()
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.set_default_timeout(20_000)

    def open(self) -> Page:
        """Follow the link."""
        self.page.goto(self.url)
        self.page.wait_for_selector(".view")
        return self.page

    def check(self) -> None:
        """Nothing was asked of anybody else, and nothing went wrong unseen."""
        foreign = [url for url in self.asked if not url.startswith(self.own)]
        assert foreign == []
        assert self.said == []
        assert self.page.evaluate("window.violations") == []
