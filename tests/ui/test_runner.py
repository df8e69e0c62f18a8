"""Questions: answered side by side, given up when nobody waits, and never by a traceback."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import anyio
from starlette.requests import Request

from triseek.errors import Busy, Cancelled
from triseek.ui.runner import LEFT, THREADS, HandlerRunner

if TYPE_CHECKING:
    import pytest

    from triseek.model.call import Call

WITHIN_S = 20.0


def request(left: anyio.Event) -> Request:
    """A request of a browser that leaves when the event is set."""

    async def receive() -> dict[str, Any]:
        await left.wait()
        return {"type": "http.disconnect"}

    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"q=x", "headers": []}
    return Request({**scope, "path_params": {}}, receive)


def asked_once(asked: Any) -> Any:
    """The answer to one question of a browser that stays."""

    async def ask() -> Any:
        with anyio.fail_after(WITHIN_S):
            return await HandlerRunner().endpoint(asked)(request(anyio.Event()))

    return anyio.run(ask)


def test_a_question_that_nobody_waits_for_is_given_up() -> None:
    begun, stopped = threading.Event(), threading.Event()

    def asked(_given: Any, call: Call) -> dict[str, Any]:
        begun.set()
        while not call.cancelled():
            stopped.wait(0.01)
        stopped.set()
        raise Cancelled("cancelled")

    async def leave() -> int:
        left = anyio.Event()
        with anyio.fail_after(WITHIN_S):
            async with anyio.create_task_group() as tasks:

                async def answer() -> None:
                    answers.append(await HandlerRunner().endpoint(asked)(request(left)))

                tasks.start_soon(answer)
                await anyio.to_thread.run_sync(begun.wait)
                left.set()
        return answers[0].status_code

    answers: list[Any] = []
    assert anyio.run(leave) == LEFT
    assert stopped.wait(WITHIN_S)


def test_questions_are_answered_side_by_side() -> None:
    together = threading.Barrier(THREADS)

    def asked(_given: Any, _call: Call) -> dict[str, Any]:
        together.wait(WITHIN_S)
        return {}

    async def many() -> None:
        by = HandlerRunner().endpoint(asked)
        with anyio.fail_after(WITHIN_S):
            async with anyio.create_task_group() as tasks:
                for _ in range(THREADS):
                    tasks.start_soon(by, request(anyio.Event()))

    anyio.run(many)
    assert not together.broken


def test_a_bug_is_logged_and_told_without_its_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def asked(_given: Any, _call: Call) -> dict[str, Any]:
        raise ZeroDivisionError("of a secret")

    answer = asked_once(asked)

    assert answer.status_code == 500
    assert b"ZeroDivisionError" in answer.body
    assert b"secret" not in answer.body
    assert "of a secret" in caplog.text


def test_what_may_work_later_is_said_to() -> None:
    def asked(_given: Any, _call: Call) -> dict[str, Any]:
        raise Busy("another process writes", next_step="Try again.")

    answer = asked_once(asked)

    assert answer.status_code == 503
    assert b'"retryable":true' in answer.body
    assert b"Try again." in answer.body


def test_what_is_no_character_passes_as_json() -> None:
    assert asked_once(lambda _given, _call: {"path": "\udcff"}).body == b'{"path":"\\udcff"}'
