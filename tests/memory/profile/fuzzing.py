"""Lines that no client should send to the profile, among such as every client sends.

`expected_of` is the slow twin of the profile's reading of lines.
"""

from __future__ import annotations

import json
import math
import random
import uuid
from typing import TYPE_CHECKING, Any, NamedTuple

from tests import byte_changes
from tests.mcp.speaking import call, hello, notice, request
from triseek.memory.profile.lines import LINE_MAX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PARSE_ERROR = -32700
SILENT_METHODS = ("notifications/initialized", "notifications/cancelled")
PALACES = ("shop", "other", "none")
"""The last of them does not exist."""
HOSTILE_NAMES = (
    "../x", "..", "/etc/passwd", "a/../../b", "", " ", "a\0b", "a\nb", "\x1b[2J", "\ud800", "-rf",
    "C:\\x", "\u202e", "x" * 101, ".hidden", "é" * 300, "~/x", "%2e%2e", "$HOME", "`id`", "a;b",
)  # fmt: skip
STRANGE: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 10**400, "", [], {}, [[]], {"palace": "shop"}, "x" * 2_000, ["\ud800"],
    [None, 5, "tag"], "\U0001f600", "'); DROP TABLE drawers; --", "NEAR(\"", "%s%n", "null",
)  # fmt: skip
WORDS = [
    "gateway",
    "token",
    "cache",
    "queue",
    "invoice",
    "retry",
    "deploy",
    "staging",
    "index",
    "drawer",
]


class Expected(NamedTuple):
    """What a line comes to: at most one answer."""

    id: Any = None
    code: int | None = None
    """The code of its error; None if it may be any answer."""
    is_answered: bool = True


class Line(NamedTuple):
    data: bytes
    """With its end."""
    expected: Expected


SILENT = Expected(is_answered=False)
REFUSED = Expected(code=PARSE_ERROR)


def expected_of(line: bytes) -> Expected:
    """What a line without its end comes to, whatever it holds."""
    if not line.strip():
        return SILENT
    if len(line) > LINE_MAX:
        return REFUSED
    try:
        body = json.loads(line.decode("utf-8"), parse_constant=_refuse, parse_float=_number)
    except (ValueError, RecursionError):
        return REFUSED
    if not isinstance(body, dict):
        return REFUSED
    number = body.get("id")
    if not (number is None or (isinstance(number, (str, int, float)) and number is not True)):
        return REFUSED
    if number is False:
        return REFUSED
    if "id" not in body or body.get("method") in SILENT_METHODS:
        return SILENT
    return Expected(number)


def _refuse(name: str) -> None:
    raise ValueError(name)


def _number(text: str) -> float:
    if not math.isfinite(float(text)):
        raise ValueError(text)
    return float(text)


class Fuzzer:
    """Lines, by a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._count = 0

    def lines(self, count: int) -> Iterator[Line]:
        kinds: list[tuple[Callable[[], Line], int]] = [
            (self.sound, 45), (self.hostile, 20), (self.mutated, 20), (self.malformed, 10),
            (self.unheard, 4), (self.nested, 1),
        ]  # fmt: skip
        for _ in range(count):
            [kind] = self._random.choices([kind for kind, _ in kinds], [n for _, n in kinds])
            yield kind()

    def chunks(self, data: bytes) -> Iterator[bytes]:
        """Data in pieces that respect no line."""
        while data:
            size = self._random.choice((1, 7, 100, 4096, 65536, len(data)))
            yield data[:size]
            data = data[size:]

    def _id(self) -> Any:
        self._count += 1
        shapes = (self._count, f"n{self._count}", f"é\u2028 {self._count}", -self._count,
                  10**30 + self._count, self._count + 0.5)  # fmt: skip
        return self._random.choice(shapes)

    def _text(self) -> str:
        return " ".join(self._random.choices(WORDS, k=self._random.choice((1, 3, 12))))

    def _drawer(self) -> str:
        return str(uuid.UUID(int=self._random.getrandbits(128)))

    def _asked(self, number: object) -> dict[str, Any]:
        """A request of the contract."""
        pick = self._random.choice
        palace = pick(PALACES)
        messages = (
            call(number, "memory_remember", palace=palace, text=self._text(),
                 room=pick(("Backend", "backend", "Own room")), tags=[pick(WORDS), pick(WORDS)]),
            call(number, "memory_remember", text=self._text()),
            call(number, "memory_recall", palace=palace, query=self._text(), top_k=pick((1, 5))),
            call(number, "memory_recall_deep", query=self._text()),
            call(number, "memory_list", palace=palace, tag=pick(WORDS), limit=3),
            call(number, "memory_forget", drawer_id=self._drawer()),
            call(number, "palace_create", name=pick(PALACES[:2]), description=self._text()),
            call(number, "palace_list"),
            call(number, "palace_info", palace=palace),
            call(number, "kg_assert", subject=pick(WORDS), predicate="uses", object=self._text(),
                 confidence=self._random.random()),
            call(number, "kg_query", palace=palace, subject=pick(WORDS)),
            call(number, "no_such_tool"),
            request(number, "tools/list"), request(number, "ping"), hello(number),
            request(number, "resources/list"),
        )  # fmt: skip
        return pick(messages)

    def _line(self, message: object) -> Line:
        text = json.dumps(message, ensure_ascii=True)
        end = self._random.choice(("\n", "\n", "\r\n", " \n", "\n\n"))
        return Line((text + end).encode(), expected_of(text.encode()))

    def sound(self) -> Line:
        return self._line(self._asked(self._id()))

    def hostile(self) -> Line:
        """A request some of whose values are strange."""
        message = self._asked(self._id())
        places = [message, message.get("params", {})]
        arguments = message.get("params", {}).get("arguments")
        if isinstance(arguments, dict):
            places += [arguments] * 6
        for _ in range(self._random.choice((1, 1, 2, 4))):
            place = self._random.choice(places)
            names = [name for name in place if name != "id"] or ["palace"]
            values = HOSTILE_NAMES if self._random.random() < 0.5 else STRANGE
            place[self._random.choice([*names, "palace"])] = self._random.choice(values)
        return self._line(message)

    def mutated(self) -> Line:
        """A request with some bytes changed."""
        whole = json.dumps(self._asked(f"m{self._random.randrange(10**9)}")).encode()
        line = byte_changes.changed(whole, self._random)
        return Line(line + b"\n", expected_of(line))

    def malformed(self) -> Line:
        self._count += 1
        ping = request(f"b{self._count}", "ping")
        bodies: list[object] = [
            [], [ping, ping], 5, None, "ping", {}, {"jsonrpc": "2.0"}, {**ping, "jsonrpc": 1},
            {**ping, "id": None}, {**ping, "id": True}, {**ping, "id": [1]}, {**ping, "id": {}},
            {**ping, "id": "\ud800"}, {**ping, "method": 5}, {**ping, "method": None},
            {**ping, "method": ["ping"]}, {**ping, "params": []}, {**ping, "params": "all"},
            {"id": f"b{self._count}"}, {**ping, "method": "notifications/initialized"},
            request(f"b{self._count}", "tools/call", [1]), request(f"b{self._count}", "tools/call"),
        ]  # fmt: skip
        texts = [
            b"\xff\xfe\x00",
            b"ping",
            b"{",
            b"\x00",
            b'{"id": 1, "method": "ping"',
            b"'",
            b'{"id": 1, "method": "\xe9"}',
            b"\xc0\xaf",
            b'{"id": NaN, "method": "ping"}',
            b'{"id": 1e999, "method": "ping"}',
            b'{"id": 1, "x": -Infinity, "method": "ping"}',
            b'{"id": ' + b"9" * 5_000 + b', "method": "ping"}',
            '{"id": 1, "method": "ping"}'.encode("utf-16-le").replace(b"\n", b""),
            self._random.randbytes(self._random.randrange(1, 300)).replace(b"\n", b""),
        ]
        if self._random.random() < 0.6:
            line = json.dumps(self._random.choice(bodies)).encode()
        else:
            line = self._random.choice(texts)
        return Line(line + b"\n", expected_of(line))

    def unheard(self) -> Line:
        """What is never answered."""
        said = (
            notice("notifications/initialized"), notice("notifications/cancelled", requestId=1),
            notice("no/such/notification"), notice("ping"),
            notice("tools/call", name="palace_list"),
            notice("tools/call", name="memory_remember", arguments={"text": 5}),
        )  # fmt: skip
        line = self._line(self._random.choice(said))
        return self._random.choice((line, Line(b"\n", SILENT), Line(b" \r\n\t\n", SILENT)))

    def nested(self) -> Line:
        """Values that are nested deeply, or are large."""
        depth = self._random.choice((50, 100, 5_000, 200_000))
        number = json.dumps(self._id()).encode()
        if self._random.random() < 0.3:
            deep = b'"' + b"x" * (self._random.choice((10_000, 101_000, 1_000_000))) + b'"'
        else:
            open_, close = self._random.choice(((b"[", b"]"), (b'{"a":', b"}")))
            deep = open_ * depth + b"1" + close * depth
        place = self._random.choice((
            b'{"id":%s,"method":"ping","params":%s}',
            b'{"id":%s,"method":%s}',
            b'{"id":%s,"method":"tools/call","params":{"name":"memory_recall","arguments":{"query":%s}}}',
            b'{"id":%s,"method":"tools/call","params":{"name":"memory_remember","arguments":{"text":%s}}}',
        ))  # fmt: skip
        line = place % (number, deep)
        return Line(line + b"\n", expected_of(line))
