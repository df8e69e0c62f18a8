"""Threads that wait: every call is made, at once, and idle threads do not pile up."""

from __future__ import annotations

import threading
import time

import pytest

from tests.daemon.conftest import eventually
from triseek.daemon.thread_pool import ThreadPool


def crew_threads() -> int:
    return sum(thread.name.endswith("(_run)") for thread in threading.enumerate())


@pytest.mark.parametrize("waiting", [0, 1, 4])
def test_calls_never_wait_for_each_other(waiting):
    together = threading.Barrier(20, timeout=10)
    done: list[int] = []

    def work(number: int) -> None:
        together.wait()
        done.append(number)

    pool = ThreadPool(work, waiting)
    pool.assemble()
    for number in range(20):
        pool.take(number)

    assert eventually(lambda: len(done) == 20)
    assert sorted(done) == list(range(20))
    assert eventually(lambda: crew_threads() == waiting)
    pool.dismiss()
    assert eventually(lambda: crew_threads() == 0)


def test_every_call_is_made_once_however_quickly_they_come():
    lock, done = threading.Lock(), []

    def work(number: int) -> None:
        if number % 7 == 0:
            time.sleep(0.0005)
        with lock:
            done.append(number)

    pool = ThreadPool(work, 3)
    pool.assemble()
    givers = [
        threading.Thread(target=lambda start=start: [pool.take(n) for n in range(start, 4000, 4)])
        for start in range(4)
    ]
    for giver in givers:
        giver.start()
    for giver in givers:
        giver.join()

    assert eventually(lambda: len(done) == 4000)
    assert sorted(done) == list(range(4000))
    pool.dismiss()
    assert eventually(lambda: crew_threads() == 0)


def test_who_works_at_the_end_ends_after_the_work():
    begun, going_on = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        going_on.wait(10)

    pool = ThreadPool(work, 2)
    pool.take()
    assert begun.wait(5)
    pool.dismiss()
    assert crew_threads() == 1
    going_on.set()
    assert eventually(lambda: crew_threads() == 0)
