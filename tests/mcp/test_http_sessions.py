"""New clients by HTTP where there are as many sessions as there may be."""

from __future__ import annotations

import anyio
import pytest

from triseek.mcp.http import SESSION_HEADER, HttpSessions


class Inner:
    """Opens sessions, knows which are open, and can be kept waiting."""

    def __init__(self, most):
        self.open, self._most, self._made = [], most, 0
        self.go_on = anyio.Event()

    async def __call__(self, scope, receive, send):
        told = dict(scope["headers"]).get(SESSION_HEADER.encode(), b"").decode()
        headers = []
        if not told:
            status = 503 if len(self.open) >= self._most else 200
            if status == 200:
                self._made += 1
                self.open.append(f"s{self._made}")
                headers = [(SESSION_HEADER.encode(), self.open[-1].encode())]
        elif told not in self.open:
            status = 404
        else:
            status = 200
            if scope["method"] == "DELETE":
                self.open.remove(told)
        if scope["path"] == "/wait":
            await self.go_on.wait()
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


async def asked(app, session="", method="POST", path="/"):
    headers = [(SESSION_HEADER.encode(), session.encode())] if session else []
    said = []

    async def send(message):
        said.append(message)

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    scope = {"type": "http", "method": method, "path": path, "headers": headers}
    await app(scope, receive, send)
    return said[0]["status"]


async def the_idlest_makes_room():
    inner = Inner(3)
    app = HttpSessions(inner, 3)
    for _ in range(3):
        assert await asked(app) == 200
    assert await asked(app, "s1") == 200

    assert await asked(app) == 200

    assert inner.open == ["s1", "s3", "s4"]
    assert await asked(app, "s2") == 404
    for _ in range(1_000):
        assert await asked(app) == 200
    assert len(inner.open) == 3


async def what_works_is_not_ended():
    inner = Inner(2)
    app = HttpSessions(inner, 2)
    assert [await asked(app), await asked(app)] == [200, 200]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: asked(app, "s1", path="/wait"))
        await anyio.sleep(0)
        assert await asked(app) == 200
        assert inner.open == ["s1", "s3"]
        tasks.start_soon(lambda: asked(app, "s3", path="/wait"))
        await anyio.sleep(0)
        assert await asked(app) == 503
        inner.go_on.set()
    assert await asked(app) == 200


async def a_stream_is_no_work():
    inner = Inner(1)
    app = HttpSessions(inner, 1)
    assert await asked(app) == 200
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: asked(app, "s1", method="GET", path="/wait"))
        await anyio.sleep(0)
        assert await asked(app) == 200
        inner.go_on.set()
    assert inner.open == ["s2"]


async def who_leaves_is_forgotten():
    inner = Inner(2)
    app = HttpSessions(inner, 2)
    assert [await asked(app), await asked(app)] == [200, 200]
    assert await asked(app, "s1", method="DELETE") == 200
    assert await asked(app) == 200
    assert inner.open == ["s2", "s3"]


@pytest.mark.parametrize(
    "story",
    [
        the_idlest_makes_room, what_works_is_not_ended, a_stream_is_no_work,
        who_leaves_is_forgotten,
    ],
)  # fmt: skip
def test_room_for_a_new_session(story):
    anyio.run(story)
