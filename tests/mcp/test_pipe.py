"""The pipe between an agent and its session: every line is settled once, whatever ends."""

from __future__ import annotations

import os
import select
import socket
import threading
from typing import TYPE_CHECKING

import pytest

from triseek.errors import BackendFailure
from triseek.mcp import pipe
from triseek.mcp.pipe import Pipe
from triseek.mcp.wire_lines import LINE_MAX

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PATIENCE_S = 30.0


class Session:
    """What a session is to the pipe: says what a test has it say."""

    def __init__(self, state: str, sessions: int, losses: int) -> None:
        self.opened = (state, sessions, losses)
        self.theirs, self._sock = socket.socketpair()
        self._sock.settimeout(PATIENCE_S)
        self._lines = self._sock.makefile("rb")

    def hear(self) -> bytes:
        """The next line, without its end; empty if the pipe has left."""
        return self._lines.readline().removesuffix(b"\n")

    def say(self, *lines: bytes) -> None:
        self._sock.sendall(b"".join(line + b"\n" for line in lines))

    def say_part(self, data: bytes) -> None:
        self._sock.sendall(data)

    def die(self) -> None:
        self._lines.close()
        self._sock.close()


class Rig:
    """A pipe, the agent's ends of it, and its sessions as they are opened."""

    def __init__(self, prepared: Mapping[bytes, bytes] | None = None) -> None:
        source, self._agent = os.pipe()
        told, target = os.pipe()
        self._told = os.fdopen(told, "rb")
        self._ends = [source, target]
        self._opened: list[Session] = []
        self._changed = threading.Condition()
        self._has_left = self._is_over = False
        self.may_open = threading.Event()
        self.may_open.set()
        self.in_daemon = True
        self.is_back = False
        self.pipe = Pipe(source, target, self, (prepared or {}).get)
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.pipe.run()
        except BaseException as error:  # noqa: BLE001 - looked at by tests
            self.error = error
        finally:
            self.pipe.close()
            os.close(self._ends[1])

    def __call__(self, state: str, sessions: int, losses: int) -> tuple[socket.socket, bool]:
        assert self.may_open.wait(PATIENCE_S)
        with self._changed:
            if self._is_over:
                raise ConnectionResetError
            self._opened.append(Session(state, sessions, losses))
            self._changed.notify_all()
        return self._opened[-1].theirs, self.in_daemon

    def is_daemon_back(self) -> bool:
        return self.is_back

    def session(self, number: int = 0) -> Session:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self._opened) > number, PATIENCE_S)
        return self._opened[number]

    @property
    def sessions(self) -> int:
        return len(self._opened)

    def ask(self, *lines: bytes) -> None:
        os.write(self._agent, b"".join(line + b"\n" for line in lines))

    def write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._agent, data) :]

    def answer(self) -> bytes:
        return self._told.readline().removesuffix(b"\n")

    def leave(self) -> None:
        self._has_left = True
        os.close(self._agent)

    def stop_reading(self) -> None:
        self._told.close()

    def dispose(self) -> None:
        """Leave, in whatever state it is."""
        with self._changed:
            self._is_over = True
        self.may_open.set()
        if not self._has_left:
            self.leave()
        for session in self._opened:
            session.die()
        self.ended()
        self._told.close()
        os.close(self._ends[0])

    def ended(self) -> None:
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()


@pytest.fixture(autouse=True)
def _alive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipe.address, "is_alive", lambda: True)


@pytest.fixture
def rig() -> Iterator[Rig]:
    rig = Rig()
    yield rig
    rig.dispose()


def test_lines_are_numbered_and_answers_go_to_the_agent(rig: Rig) -> None:
    rig.ask(b'{"a":1}', b"", b'{"b":2}')
    session = rig.session()

    assert [session.hear(), session.hear()] == [b'1 {"a":1}', b'2 {"b":2}']
    session.say(b'2 {"second":2}', b'{"progress":1}', b'1 {"first":1}')
    assert [rig.answer() for _ in range(3)] == [b'{"second":2}', b'{"progress":1}', b'{"first":1}']


def test_no_session_is_opened_before_the_agent_speaks(rig: Rig) -> None:
    rig.leave()
    rig.ended()

    assert rig.sessions == 0


def test_what_is_open_is_asked_of_the_next_session(rig: Rig) -> None:
    rig.ask(b"answered", b"open", b"silent")
    first = rig.session()
    assert first.hear() == b"1 answered"
    first.say(b"1 {}", b"=3")
    assert rig.answer() == b"{}"
    first.say_part(b'2 {"half":')
    first.die()

    second = rig.session(1)
    assert second.hear() == b"2 open"
    second.say(b'2 {"whole":1}')
    assert rig.answer() == b'{"whole":1}'


def test_what_must_not_be_asked_again_is_answered_with_its_error(rig: Rig) -> None:
    rig.ask(b"write", b"read")
    first = rig.session()
    first.say(b'!1 {"error":"write"}', b'?2 {"error":"read"}')
    first.hear()
    first.hear()
    first.die()

    assert rig.answer() == b'{"error":"write"}'
    assert rig.session(1).hear() == b"2 read"


def test_a_call_during_which_each_session_ends_is_answered_with_its_error(rig: Rig) -> None:
    rig.ask(b"read")
    for number in range(pipe.TRIES):
        session = rig.session(number)
        session.hear()
        session.say(b'?1 {"error":"read"}')
        session.die()

    assert rig.answer() == b'{"error":"read"}'
    rig.ask(b"next")
    assert rig.session(pipe.TRIES).hear() == b"2 next"


def test_what_a_session_said_last_is_heard_although_nothing_can_be_sent_to_it() -> None:
    mine, theirs = socket.socketpair()
    carrier = Pipe(-1, -1, None)  # type: ignore[arg-type]  # opens no session
    line = carrier._lines[1] = pipe.PendingLine(b"write")
    carrier._to_session += b"2 read\n"
    theirs.sendall(b'!1 {"error":"write"}\n')
    theirs.close()

    with mine:
        carrier._exchange(mine, select.POLLIN | select.POLLOUT | select.POLLHUP)

    assert (line.lost, line.again) == (b'{"error":"write"}', False)


def test_sessions_that_end_before_they_take_a_line_end_the_pipe(rig: Rig) -> None:
    rig.ask(b"read")
    for number in range(pipe.TRIES + 1):
        session = rig.session(number)
        session.hear()
        session.die()

    rig.ended()
    assert isinstance(rig.error, BackendFailure)


def test_a_session_that_is_lost_while_nothing_is_open_is_opened_again_when_it_is_needed(
    rig: Rig,
) -> None:
    rig.ask(b"one")
    first = rig.session()
    first.say(b"1 {}")
    assert rig.answer() == b"{}"
    first.die()

    rig.ask(b"two")
    assert rig.session(1).hear() == b"2 two"
    assert rig.sessions == 2


def test_what_establishes_a_session_is_repeated_to_the_next(rig: Rig) -> None:
    rig.ask(b"initialize", b"initialized", b"open")
    first = rig.session()
    for _ in range(3):
        first.hear()
    first.say(b"+1", b'1 {"hello":1}', b"+2", b"=2", b"%s1", b"%s2")
    assert rig.answer() == b'{"hello":1}'
    first.die()

    second = rig.session(1)
    assert second.opened == ("s2", 1, 1)
    assert [second.hear() for _ in range(3)] == [b"~1 initialize", b"~2 initialized", b"3 open"]


def test_what_is_kept_and_open_is_sent_once(rig: Rig) -> None:
    rig.ask(b"initialize")
    first = rig.session()
    first.hear()
    first.say(b"+1")
    first.die()

    second = rig.session(1)
    assert second.hear() == b"1 initialize"
    second.say(b"+1", b"1 {}")
    assert rig.answer() == b"{}"
    second.die()
    rig.ask(b"next")
    third = rig.session(2)
    assert [third.hear(), third.hear()] == [b"~1 initialize", b"2 next"]


def test_the_losses_of_the_lines_that_are_open_are_counted(rig: Rig) -> None:
    rig.ask(b"open")
    for losses in range(pipe.TRIES):
        session = rig.session(losses)
        assert session.opened[2] == losses
        session.hear()
        session.die()
    last = rig.session(pipe.TRIES)
    last.hear()
    last.say(b"1 {}")
    assert rig.answer() == b"{}"
    last.die()

    rig.ask(b"again")
    assert rig.session(pipe.TRIES + 1).opened[2] == 0


def test_the_agents_end_is_passed_on_and_all_answers_come(rig: Rig) -> None:
    rig.ask(b"one")
    rig.write(b"two, without an end")
    session = rig.session()
    rig.leave()
    assert [session.hear() for _ in range(3)] == [b"1 one", b"2 two, without an end", b"."]

    session.say(b"1 {1}", b"2 {2}", b".")

    assert [rig.answer() for _ in range(3)] == [b"{1}", b"{2}", b""]
    rig.ended()


def test_a_session_that_is_over_is_not_opened_again(rig: Rig) -> None:
    rig.ask(b"shutdown")
    session = rig.session()
    session.hear()
    session.say(b"1 {}", b".")
    session.die()

    assert [rig.answer(), rig.answer()] == [b"{}", b""]
    rig.ended()
    assert rig.sessions == 1


def test_a_session_that_says_nothing_at_the_end_is_left(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipe, "LINGER_S", 0.2)
    rig.ask(b"one")
    rig.session().hear()

    rig.leave()

    rig.ended()


def test_an_agent_that_does_not_read_any_more_ends_the_pipe(rig: Rig) -> None:
    rig.ask(b"one")
    session = rig.session()
    rig.stop_reading()

    session.say(b"1 " + b"x" * 300_000)

    rig.ended()
    assert isinstance(rig.error, BrokenPipeError)


def test_a_line_that_is_too_long_is_cut_so_that_it_is_refused(rig: Rig) -> None:
    writer = threading.Thread(target=rig.write, args=(b"x" * (LINE_MAX + 5_000) + b"\nnext\n",))
    writer.start()
    session = rig.session()

    first = session.hear()
    assert len(first) == len(b"1 ") + LINE_MAX + 1
    assert session.hear() == b"2 next"
    writer.join(PATIENCE_S)


def test_an_answer_of_megabytes_arrives_whole(rig: Rig) -> None:
    rig.ask(b"one")
    session = rig.session()
    session.hear()
    answer = b'{"weight":"' + b"x" * 5_000_000 + b'"}'
    threading.Thread(target=session.say, args=(b"1 " + answer,), daemon=True).start()

    assert rig.answer() == answer


def test_a_daemon_that_is_stuck_is_left_and_its_lines_are_asked_again(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipe.address, "SILENCE_S", 0.1)
    monkeypatch.setattr(pipe.address, "is_alive", lambda: rig.sessions > 1)
    rig.ask(b"one")

    assert rig.session(1).hear() == b"1 one"
    rig.session(1).say(b"1 {}")
    assert rig.answer() == b"{}"
    assert rig.sessions == 2


def test_a_session_in_this_process_makes_room_for_one_in_the_daemon_when_nothing_is_open(
    rig: Rig,
) -> None:
    rig.in_daemon = False
    rig.ask(b"one", b"two")
    here = rig.session()
    here.say(b"1 {}")
    assert rig.answer() == b"{}"
    rig.in_daemon = rig.is_back = True
    rig.ask(b"three")  # the second is still open
    assert [here.hear() for _ in range(3)] == [b"1 one", b"2 two", b"3 three"]
    here.say(b"2 {}", b"3 {}")
    assert [rig.answer(), rig.answer()] == [b"{}", b"{}"]

    rig.ask(b"four")

    assert rig.session(1).hear() == b"4 four"
    assert here.hear() == b""


def test_an_agent_with_too_much_open_waits(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipe, "OPEN_MAX", 3)
    rig.ask(*(b"%d" % number for number in range(3)))
    session = rig.session()
    for _ in range(3):
        session.hear()
    rig.ask(b"late")

    session.say(b"1 {}")

    assert session.hear() == b"4 late"


PREPARED = {b"initialize": b'{"hello":1}', b"list": b'{"tools":1}'}


@pytest.fixture
def opening() -> Iterator[Rig]:
    """A pipe with prepared answers, whose session is not opened yet."""
    rig = Rig(PREPARED)
    rig.may_open.clear()
    yield rig
    rig.dispose()


def test_what_is_prepared_is_answered_while_the_session_is_opened(opening: Rig) -> None:
    opening.ask(b"initialize")
    assert opening.answer() == b'{"hello":1}'
    opening.ask(b"initialized", b"list", b"call")
    assert opening.answer() == b'{"tools":1}'
    assert opening.sessions == 0

    opening.may_open.set()

    session = opening.session()
    assert [session.hear() for _ in range(3)] == [b"~1 initialize", b"2 initialized", b"4 call"]
    session.say(b"+2", b"=2", b"4 {}")
    assert opening.answer() == b"{}"
    opening.ask(b"list")
    assert opening.answer() == b'{"tools":1}'
    session.die()
    opening.ask(b"next")
    second = opening.session(1)
    assert [second.hear() for _ in range(3)] == [b"~1 initialize", b"~2 initialized", b"6 next"]


def test_a_session_is_opened_by_a_prepared_answer_to_the_first_line_only(opening: Rig) -> None:
    opening.may_open.set()
    opening.ask(b"initialize")

    assert opening.session().hear() == b"~1 initialize"


def test_an_agent_that_leaves_while_its_session_is_opened_is_not_waited_for(opening: Rig) -> None:
    opening.ask(b"initialize", b"list")
    opening.leave()

    assert [opening.answer() for _ in range(3)] == [b'{"hello":1}', b'{"tools":1}', b""]
    opening.ended()


def test_what_is_open_when_the_agent_leaves_is_answered_by_the_session(opening: Rig) -> None:
    opening.ask(b"initialize", b"call")
    opening.leave()
    assert opening.answer() == b'{"hello":1}'

    opening.may_open.set()

    session = opening.session()
    assert [session.hear() for _ in range(3)] == [b"~1 initialize", b"2 call", b"."]
    session.say(b"2 {}", b".")
    assert [opening.answer(), opening.answer()] == [b"{}", b""]


def test_a_session_that_cannot_be_opened_ends_the_pipe(rig: Rig) -> None:
    rig._is_over = True
    rig.ask(b"one")

    rig.ended()
    assert isinstance(rig.error, ConnectionResetError)
