"""Several agents at once: nothing is mixed up, and nobody waits for another's files."""

from __future__ import annotations

import threading
from pathlib import Path

from tests.memo.memo_agents import CODE
from triseek.memo import look

WAIT_S = 60


def run(*works):
    failed = []

    def guarded(work):
        try:
            work()
        except BaseException as error:  # noqa: BLE001
            failed.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
    assert not any(thread.is_alive() for thread in threads)
    if failed:
        raise failed[0]


def test_many_agents_read_at_once(agent, another):
    agents = [another(f"helper {number}", session=f"s{number % 3}") for number in range(8)]

    def work(one):
        def reads():
            for turn in range(8):
                name = ("a.py", "b.py")[turn % 2]
                expected = turn // 2 % 2 == 1  # read, denied, let through …
                assert (one.reads(name) is not None) == expected
                one.check(name)
                one.session()
                agent.memo.edited(str(Path(one.root, "absent.py")))
                agent.memo.save()

        return reads

    run(*(work(one) for one in agents))
    assert [one.session()["redundant_reads_prevented"] for one in agents[:3]] == [
        sum(2 for other in agents if other.context.session == one.context.session)
        for one in agents[:3]
    ]


def test_nobody_waits_while_a_file_is_read(agent, another, monkeypatch):
    other = another(session="s2")
    other.reads("b.py")
    reading, go_on = threading.Event(), threading.Event()
    seen = look.look

    def slowly(path):
        if path.endswith("a.py"):
            reading.set()
            assert go_on.wait(WAIT_S)
        return seen(path)

    monkeypatch.setattr(look, "look", slowly)
    thread = threading.Thread(target=agent.shows, args=(agent.use("a.py"), CODE))
    thread.start()
    try:
        assert reading.wait(WAIT_S)
        assert other.reads("b.py")
        assert other.check("b.py")["status"] == "fresh"
        other.memo.save()
    finally:
        go_on.set()
        thread.join(WAIT_S)

    assert agent.check()["status"] == "fresh"


def test_forgetting_and_saving_at_once_never_brings_back(agent, folder, clock):
    from triseek.memo.memo import Memo

    agent.reads("a.py")

    def saves():
        for _ in range(20):
            agent.memo.passed(agent.context, 1)
            agent.memo.save()

    run(saves, lambda: agent.memo.forget(agent.context))
    agent.memo = Memo(folder, clock)
    agent.memo.asking(agent.context, "call", agent.in_view)

    assert agent.check(call="call")["status"] == "unknown"
