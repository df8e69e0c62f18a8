"""The process of `triseek memory serve`: its options, its palace, and the server by HTTP beside."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.typer_reading import typers_reading
from tests.mcp.speaking import PATIENCE_S, speaking, until
from tests.memory.profile.serving import SERVE, Client, serving
from triseek.cli.mcp_verb import read
from triseek.cli.memory_verb import USUAL
from triseek.memory.service import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.long


@pytest.mark.parametrize(
    ("words", "is_plain"),
    [
        ([], True), (["--palace", "a b"], True), (["--palace=x", "--http", "127.0.0.1:0"], True),
        (["--help"], False), (["--palace"], False), (["--palace", "-rf"], False),
        (["--pal=x"], False), (["x"], False),
    ],
)  # fmt: skip
def test_what_is_read_without_typer_is_what_typer_reads(words: list[str], is_plain: bool) -> None:
    plain = read(words, USUAL)
    assert (plain is not None) == is_plain
    if is_plain:
        assert typers_reading(words, "memory", "serve") == plain


@pytest.mark.parametrize("name", ["../x", "/etc", "a" * 101, "-rf", "a\nb", ".", "a/b", "x "])
def test_a_palace_with_an_impossible_name_is_refused_in_one_line(home: Path, name: str) -> None:
    with speaking([*SERVE, f"--palace={name}"]) as spoken:
        assert spoken.close() == 2
    assert spoken.said.startswith(b"triseek: ")
    assert spoken.said.count(b"\n") == 1
    assert not (home / "memory").exists()


def test_the_palace_is_made_when_the_process_starts(home: Path) -> None:
    with serving("--palace", "shop") as client:
        assert client.spoken.close() == 0
    memory = Memory(str(home / "memory"))
    assert memory.palaces() == ["shop"]
    memory.close()


def test_a_memory_that_cannot_be_opened_is_an_error_of_calls(home: Path) -> None:
    (home / "memory").mkdir()
    (home / "memory" / "memory.db").write_bytes(b"no database, and longer than a header " * 50)
    with serving("--palace", "shop") as client:
        message = client.error("memory_remember", text="a fact")
        assert message.startswith("memory_remember: ")
        assert "memory.db" in message
        assert client.spoken.close() == 0
        assert b"Traceback" not in client.spoken.said


@pytest.fixture
def companion(home: Path) -> Iterator[Client]:
    with serving("--palace", "shop", "--http", "127.0.0.1:0") as client:
        until(lambda: b"Bearer" in client.spoken.said)
        yield client


@contextlib.contextmanager
def asked(client: Client, path: str) -> Iterator[http.client.HTTPResponse]:
    """The answer of the server by HTTP, of which only the head has been read."""
    port = re.search(rb"http://127\.0\.0\.1:(\d+)", client.spoken.said)
    file = re.search(rb"\$\(cat (.+)\)", client.spoken.said)
    assert port
    assert file
    connection = http.client.HTTPConnection("127.0.0.1", int(port[1]), timeout=PATIENCE_S)
    token = Path(file[1].decode()).read_text().strip()
    connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
    with contextlib.closing(connection), connection.getresponse() as response:
        yield response


def test_the_server_by_http_has_the_same_memory(companion: Client) -> None:
    companion.result("memory_remember", text="The gateway validates tokens.")
    with asked(companion, "/api/v1/palaces/shop/recall?q=gateway") as response:
        assert "The gateway validates tokens." in json.dumps(json.load(response))


def test_the_server_by_http_ends_with_the_input(companion: Client, home: Path) -> None:
    assert companion.spoken.close() == 0
    assert not list((home / "daemon").glob("*.token"))


def test_the_server_by_http_ends_with_a_signal(companion: Client, home: Path) -> None:
    with asked(companion, "/sse") as feed:
        assert any(b"connected" in feed.readline() for _ in range(10))
        begun = time.monotonic()
        companion.spoken.process.send_signal(signal.SIGTERM)
        assert companion.spoken.process.wait(PATIENCE_S) == 0
        assert time.monotonic() - begun < 2.0
    assert not list((home / "daemon").glob("*.token"))


@pytest.mark.parametrize("address", ["0.0.0.0:0", "example.org:80", "127.0.0.1", "x"])
def test_an_address_that_others_reach_or_none_is_refused(home: Path, address: str) -> None:
    with speaking([*SERVE, "--http", address]) as spoken:
        assert spoken.close() == 2
    assert spoken.said.count(b"\n") == 1


def test_a_port_in_use_ends_the_process(companion: Client) -> None:
    port = re.search(rb"127\.0\.0\.1:\d+", companion.spoken.said)
    assert port
    with speaking([*SERVE, "--http", port[0].decode()]) as spoken:
        assert spoken.ended() == 2
    assert spoken.said.startswith(b"triseek: ")
    assert spoken.said.count(b"\n") == 1


DREAMS_SOON = """
from triseek.memory.dreaming import idle
idle.LOOK_S = 0.1
idle.once.__defaults__ = (0.2,)
from triseek.cli.memory_verb import serve
serve("shop", "")
"""


def test_the_memory_is_consolidated_while_nobody_uses_it(home: Path) -> None:
    with speaking(["-c", DREAMS_SOON]) as spoken:
        client = Client(spoken)
        for _ in range(2):
            client.result("memory_remember", text="The gateway validates tokens with RS256.")
        memory = Memory(str(home / "memory"))
        until(lambda: len(memory.listed("shop")) == 1)
        memory.close()
        assert spoken.close() == 0


@pytest.mark.parametrize("value", ["false", "no such value"])
def test_the_memory_is_not_consolidated_if_that_is_not_set(home: Path, value: str) -> None:
    with speaking(["-c", DREAMS_SOON], {"TRISEEK_MEMORY_DREAM": value}) as spoken:
        client = Client(spoken)
        for _ in range(2):
            client.answer("memory_remember", text="The gateway validates tokens with RS256.")
        time.sleep(1.0)  # several looks
        assert len(client.result("memory_list")["drawers"]) in (0, 2)
        assert spoken.close() == 0
        assert b"Traceback" not in spoken.said
