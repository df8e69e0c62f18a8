"""`triseek ui` as a process: where it says the page is, and how it ends."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from triseek.loopback.serving import CONNECTIONS_MAX

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.long

WITHIN_S = 30.0
COMMAND = (sys.executable, "-m", "triseek", "ui")


@pytest.fixture
def tree(repo: Any) -> str:
    return os.path.realpath(repo({"a.py": "def needle():\n    pass\n"}))


@contextlib.contextmanager
def running(*words: str, **variables: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [*COMMAND, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **variables},
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def link(process: subprocess.Popen[str]) -> str:
    """The link among what is printed first."""
    assert process.stdout is not None
    for line in process.stdout:
        if "http://" in line:
            return line.strip()
    raise AssertionError(process.communicate())


def about(url: str) -> Any:
    """What the page of a link is told first."""
    place, _, token = url.partition("#token=")
    request = urllib.request.Request(
        f"{place}api/about", headers={"Authorization": f"Bearer {token}"}
    )
    with urllib.request.urlopen(request, timeout=WITHIN_S) as answer:
        return json.load(answer)


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, said = process.communicate(timeout=WITHIN_S)
    return process.returncode, said


def test_the_link_that_is_printed_opens_the_page(tree: str) -> None:
    with running(tree, "--no-open") as process:
        assert about(link(process))["root"] == tree


def test_idle_connections_lock_the_owner_out_of_nothing(tree: str) -> None:
    """Anyone of this machine can open them; here more than the page keeps open."""
    with running(tree, "--no-open") as process, contextlib.ExitStack() as idle:
        url = link(process)
        address = ("127.0.0.1", int(url.split(":")[2].split("/")[0]))
        for _ in range(CONNECTIONS_MAX + 40):
            idle.enter_context(socket.create_connection(address, timeout=WITHIN_S))

        assert about(url)["root"] == tree


def test_the_link_is_a_document_for_programs(tree: str) -> None:
    with running(tree, "--no-open", "--json") as process:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        told = json.loads("".join([next(lines) for _ in range(5)]))

        assert about(told["url"])["root"] == told["root"] == tree
        assert told["url"].startswith(f"http://127.0.0.1:{told['port']}/#token=")


def test_a_folder_inside_a_project_is_about_the_project(tree: str) -> None:
    Path(tree, ".git").mkdir()
    Path(tree, "src").mkdir()
    with running(str(Path(tree, "src")), "--no-open") as process:
        assert about(link(process))["root"] == tree


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_quietly_with_a_connection_open(tree: str, number: signal.Signals) -> None:
    with running(tree, "--no-open") as process:
        url = link(process)
        port = int(url.partition("/#")[0].rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=WITHIN_S):
            assert about(url)

            process.send_signal(number)
            code, said = ended(process)

        assert code == 0
        assert "Traceback" not in said
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.1", port), timeout=WITHIN_S)


def test_a_port_that_is_taken_is_one_clear_line(tree: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with running(tree, "--no-open", "--port", str(port)) as process:
            code, said = ended(process)

    assert code == 2
    assert said.count("\n") == 1
    assert f"cannot listen on 127.0.0.1:{port}" in said
    assert "Choose another port" in said


@pytest.mark.parametrize("words", [["nowhere"], [".", "--port", "70000"], [".", "--port", "x"]])
def test_bad_words_are_one_clear_line(words: list[str]) -> None:
    with running(*words, "--no-open") as process:
        code, said = ended(process)

    assert code == 2
    assert said.count("\n") == 1


def test_nobody_else_on_the_network_is_served(tree: str) -> None:
    with running(tree, "--no-open") as process:
        port = int(link(process).partition("/#")[0].rpartition(":")[2])
        table = Path(f"/proc/{process.pid}/net/tcp").read_text().splitlines()[1:]

    listening = [line.split()[1] for line in table if line.split()[3] == "0A"]
    assert f"0100007F:{port:04X}" in listening
    assert f"00000000:{port:04X}" not in listening


def browser(folder: Path) -> str:
    """A browser that only writes down what it is asked to open."""
    program = folder / "browser"
    program.write_text(f'#!/bin/sh\necho "$1" >> {folder}/opened\n')
    program.chmod(0o700)
    return f"{program} %s"


def test_without_a_terminal_no_browser_is_started(tree: str, tmp_path: Path) -> None:
    with running(tree, BROWSER=browser(tmp_path), DISPLAY=":7") as process:
        assert about(link(process))
        process.send_signal(signal.SIGINT)
        assert ended(process)[0] == 0

    assert not (tmp_path / "opened").exists()


@pytest.mark.parametrize(
    ("display", "words", "is_opened"),
    [(":7", [], True), (":7", ["--no-open"], False), ("", [], False)],
)
def test_on_a_desktop_a_browser_gets_a_link_that_is_good_once(
    tree: str, tmp_path: Path, display: str, words: list[str], is_opened: bool
) -> None:
    ours, theirs = pty.openpty()
    environ = {**os.environ, "BROWSER": browser(tmp_path), "DISPLAY": display}
    environ.pop("WAYLAND_DISPLAY", None)
    environ["PYTHONPATH"] = str(Path(__file__).parents[2])
    process = subprocess.Popen([*COMMAND, tree, *words], stdout=theirs, env=environ)
    os.close(theirs)
    try:
        said = b""
        while b"#token=" not in said or not said.endswith(b"\n"):
            said += os.read(ours, 4096)
        url = next(word for word in said.decode().split() if word.startswith("http"))
        assert about(url)["root"] == tree
        if is_opened:
            opened = until_written(tmp_path / "opened")
            place, _, ticket = opened.partition("#ticket=")
            assert entered(place, ticket) == url.partition("#token=")[2]
            with pytest.raises(OSError, match="401"):
                entered(place, ticket)
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(WITHIN_S) == 0
        os.close(ours)
    assert (tmp_path / "opened").exists() == is_opened


def until_written(file: Path) -> str:
    """What a file holds as soon as it holds a line."""
    until = time.monotonic() + WITHIN_S
    while not (file.exists() and file.read_text().endswith("\n")):
        assert time.monotonic() < until
        time.sleep(0.02)
    return file.read_text().strip()


def entered(place: str, ticket: str) -> str:
    """The token that a ticket is exchanged for."""
    request = urllib.request.Request(
        f"{place}api/enter", headers={"Authorization": f"Ticket {ticket}"}, method="POST"
    )
    with urllib.request.urlopen(request, timeout=WITHIN_S) as answer:
        token: str = json.load(answer)["token"]
        return token
