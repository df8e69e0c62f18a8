from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from triseek.errors import InvalidRequest
from triseek.memory.drawers import UNDO_MS, Draft
from triseek.memory.dreaming import closets, duplicates, idle
from triseek.memory.service import Memory, now_ms

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEXT = (
    "The payment service retries a failed charge after some seconds and then hands the order to"
    " the manual queue, where people of the finance team look at it every morning"
)
LONGER = TEXT.replace("every morning", "every working morning")
TABLES = ("palaces", "drawers", "drawer_tags", "drawer_changes", "triples")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    memory = Memory(str(tmp_path / "memory"))
    memory.create("shop")
    yield memory
    memory.close()


def rows(memory: Memory) -> dict[str, list[tuple[object, ...]]]:
    """Everything that people have written, with its links."""
    with memory.database.read() as connection:
        return {
            table: connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()
            for table in TABLES
        }


def shown(memory: Memory, palace: str = "shop") -> set[str]:
    return {drawer.text for drawer in memory.listed(palace, limit=1_000)}


def test_the_same_text_is_linked_and_nothing_is_lost(memory: Memory) -> None:
    first = memory.remember("shop", Draft(text=TEXT, tags=["a"]))
    second = memory.remember("shop", Draft(text=TEXT + ".", tags=["b", "a", "c"]))
    before = rows(memory)
    report = memory.dream()
    assert (report.ended, report.superseded, report.looked_at, report.left) == ("done", 1, 2, 0)
    [kept] = memory.listed("shop")
    assert (kept.uuid, kept.tags) == (second.uuid, ("b", "a", "c"))
    assert memory.drawer("shop", first.uuid).text == TEXT
    after = rows(memory)
    assert after["drawer_tags"] == before["drawer_tags"]
    assert [change.step for change in memory.dreams()] == ["duplicate"]
    hits = memory.recall("shop", "payment", deep=True).hits
    assert {hit.drawer.uuid for hit in hits} == {first.uuid, second.uuid}


def test_tags_go_to_the_drawer_that_stays(memory: Memory) -> None:
    memory.remember("shop", Draft(text=TEXT, tags=["old", "both"]))
    memory.remember("shop", Draft(text=LONGER, tags=["new", "both"]))
    before = rows(memory)
    report = memory.dream()
    assert [drawer.tags for drawer in memory.listed("shop")] == [("new", "both", "old")]
    undone = memory.undo_dream(report.run)
    assert (undone.restored, undone.kept) == (2, 0)
    assert rows(memory) == before


def test_a_drawer_with_too_many_tags_takes_no_more(memory: Memory) -> None:
    memory.remember("shop", Draft(text=TEXT, tags=[f"a{number}" for number in range(30)]))
    memory.remember("shop", Draft(text=TEXT, tags=[f"b{number}" for number in range(30)]))
    assert memory.dream().superseded == 0
    assert memory.dream().looked_at == 0


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Draft(text=TEXT, room="Backend"), Draft(text=TEXT, room="Frontend")),
        (Draft(text=TEXT, importance=0.9), Draft(text=LONGER)),
        (Draft(text=LONGER), Draft(text=TEXT)),
        (Draft(text=TEXT + " 8080"), Draft(text=TEXT + " 9090")),
    ],
)
def test_what_would_lose_something_is_not_linked(
    memory: Memory, first: Draft, second: Draft
) -> None:
    memory.remember("shop", first)
    time.sleep(0.002)
    memory.remember("shop", second)
    assert memory.dream().superseded == 0
    assert shown(memory) == {first.text, second.text}


def test_of_equal_texts_the_more_important_stays(memory: Memory) -> None:
    first = memory.remember("shop", Draft(text=TEXT, importance=0.9))
    memory.remember("shop", Draft(text=TEXT))
    memory.dream()
    assert [drawer.uuid for drawer in memory.listed("shop")] == [first.uuid]


def test_palaces_are_apart(memory: Memory) -> None:
    memory.create("other")
    memory.remember("shop", Draft(text=TEXT))
    memory.remember("other", Draft(text=TEXT))
    assert memory.dream().superseded == 0
    memory.remember("shop", Draft(text=TEXT))
    memory.remember("other", Draft(text=TEXT))
    report = memory.dream(["other"])
    assert (report.superseded, report.looked_at, report.left) == (1, 1, 0)
    assert len(memory.listed("shop")) == 2
    assert memory.dream().superseded == 1
    with pytest.raises(InvalidRequest, match="no palace"):
        memory.dream(["none"])


def test_a_run_with_nothing_to_do_reads_and_writes_nothing(memory: Memory) -> None:
    for number in range(100):
        memory.remember("shop", Draft(text=f"fact {number}"))
    assert memory.dream().looked_at == 100
    before = _version(memory)
    report = memory.dream()
    assert (report.run, report.looked_at, report.closets) == (0, 0, 0)
    assert _version(memory) == before
    assert report.seconds < 0.5
    memory.remember("shop", Draft(text="fact 7"))
    report = memory.dream()
    assert (report.looked_at, report.superseded) == (1, 1)


def test_what_is_forgotten_before_it_is_compared_does_not_wait(memory: Memory) -> None:
    drawer = memory.remember("shop", Draft(text=TEXT))
    memory.forget("shop", drawer.uuid)
    report = memory.dream()
    assert (report.looked_at, report.left) == (0, 0)
    memory.restore("shop", drawer.uuid)
    assert memory.dream().looked_at == 1


def test_a_dry_run_says_what_a_run_does_and_writes_nothing(memory: Memory, tmp_path: Path) -> None:
    for text in (TEXT, "other", TEXT, LONGER, "other", TEXT):
        memory.remember("shop", Draft(text=text, tags=["t"]))
        time.sleep(0.002)
    _age(memory, memory.remember("shop", Draft(text="old")).uuid)
    with memory.database.write():
        pass
    before, version = rows(memory), _version(memory)
    files = {path: path.read_bytes() for path in (tmp_path / "memory").iterdir()}
    plan = memory.dream(dry_run=True)
    assert rows(memory) == before
    assert _version(memory) == version
    assert {path: path.read_bytes() for path in files if "shm" not in path.name} == {
        path: data for path, data in files.items() if "shm" not in path.name
    }
    assert memory.dreams() == []
    report = memory.dream()
    assert [(change.step, change.drawer, change.after) for change in plan.changes] == [
        (change.step, change.drawer, change.after) for change in report.changes
    ]
    assert (plan.superseded, plan.purged) == (report.superseded, report.purged) == (3, 1)


def test_what_was_undone_is_not_linked_again(memory: Memory) -> None:
    memory.remember("shop", Draft(text=TEXT))
    memory.remember("shop", Draft(text=TEXT))
    report = memory.dream()
    memory.undo_dream(report.run)
    assert memory.dream().superseded == 0
    memory.remember("shop", Draft(text=TEXT))
    assert memory.dream().superseded == 2
    assert len(memory.listed("shop")) == 1
    assert memory.undo_dream(report.run).restored == 0
    with pytest.raises(InvalidRequest, match="no run 99"):
        memory.undo_dream(99)


def test_what_has_changed_since_is_left_alone_by_undo(memory: Memory) -> None:
    first = memory.remember("shop", Draft(text=TEXT))
    memory.remember("shop", Draft(text=TEXT))
    report = memory.dream()
    memory.update("shop", first.uuid, "something else")
    assert shown(memory) == {TEXT, "something else"}
    before = rows(memory)
    undone = memory.undo_dream(report.run)
    assert (undone.restored, undone.kept) == (0, 1)
    assert rows(memory) == before


def test_forgetting_takes_what_says_the_same(memory: Memory) -> None:
    first = memory.remember("shop", Draft(text=TEXT))
    second = memory.remember("shop", Draft(text=TEXT))
    third = memory.remember("shop", Draft(text=TEXT))
    memory.dream()
    before = rows(memory)
    assert memory.forget("shop", third.uuid)
    assert memory.recall("shop", "payment", deep=True).hits == ()
    assert memory.restore("shop", third.uuid)
    assert rows(memory) == before
    assert memory.forget("shop", third.uuid, purges=True)
    with memory.database.read() as connection:
        assert connection.execute("SELECT count(*) FROM drawers").fetchone() == (0,)
    assert not memory.forget("shop", first.uuid)
    assert not memory.forget("shop", second.uuid)


def _age(memory: Memory, uuid: str, ms: int = UNDO_MS + 1_000) -> None:
    memory.forget("shop", uuid)
    with memory.database.write() as connection:
        connection.execute(
            "UPDATE drawers SET deleted_at_epoch = ? WHERE uuid = ?", (now_ms() - ms, uuid)
        )


def test_what_was_forgotten_long_ago_is_deleted(memory: Memory, tmp_path: Path) -> None:
    old = memory.remember("shop", Draft(text="the quetzal plan"))
    recent = memory.remember("shop", Draft(text="the heron plan"))
    _age(memory, old.uuid)
    _age(memory, recent.uuid, UNDO_MS - 60_000)
    report = memory.dream()
    assert (report.purged, report.superseded) == (1, 0)
    assert not memory.restore("shop", old.uuid)
    assert memory.restore("shop", recent.uuid)
    [change] = memory.dreams()
    assert (change.step, change.drawer) == ("purge", old.uuid)
    assert "quetzal" not in repr(change)
    undone = memory.undo_dream(report.run)
    assert (undone.restored, undone.purged) == (0, 1)


def test_no_file_of_the_index_has_what_was_deleted(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    from triseek.kernels import cache, recall

    assert recall.refine
    monkeypatch.setattr(cache, "is_ready", lambda: True)
    memory.remember("shop", Draft(text="the heron plan"))
    drawer = memory.remember("shop", Draft(text="the quetzal plan"))
    memory.prepare()

    def has(word: bytes) -> bool:
        files = [path for path in memory.database.path.parent.rglob("*") if path.is_file()]
        return any(word in path.read_bytes() for path in files if "memory.db" not in path.name)

    assert has(b"quetzal")
    _age(memory, drawer.uuid)

    assert has(b"quetzal")
    assert memory.dream().purged == 1
    assert not has(b"quetzal")
    assert has(b"heron")


def test_a_budget_ends_a_run_and_the_next_goes_on(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duplicates, "BATCH", 10)
    for number in range(60):
        memory.remember("shop", Draft(text=f"fact {number % 30}"))
    assert memory.dream(budget_s=0).ended == "budget"
    cancelled = _After(15)
    report = memory.dream(cancelled=cancelled)
    assert report.ended == "cancelled"
    assert 0 < report.looked_at < 60
    assert report.left == 60 - report.looked_at
    assert memory.dream().ended == "done"
    assert shown(memory) == {f"fact {number}" for number in range(30)}
    assert len(memory.listed("shop", limit=100)) == 30


class _After:
    """Set after it has been asked so often."""

    def __init__(self, times: int) -> None:
        self._left = times

    def is_set(self) -> bool:
        self._left -= 1
        return self._left < 0


ACTION = st.one_of(
    st.tuples(st.just("remember"), st.integers(0, 5), st.integers(0, 2), st.integers(0, 3)),
    st.tuples(st.sampled_from(("forget", "restore", "update", "purge")), st.integers(0, 30)),
    st.tuples(st.sampled_from(("dream", "dry", "undo"))),
)


@given(actions=st.lists(ACTION, max_size=30))
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
def test_nothing_is_lost_whatever_is_done(
    tmp_path_factory: pytest.TempPathFactory, actions: list[tuple[object, ...]]
) -> None:
    """Each text that was not purged stays, and undoing all runs gives the rows as before them."""
    memory = Memory(str(tmp_path_factory.mktemp("memory")))
    memory.create("shop")
    texts: dict[str, str] = {}
    try:
        for name, *values in actions:
            _act(memory, texts, str(name), values)
            _holds(memory, texts)
    finally:
        memory.close()


def _act(memory: Memory, texts: dict[str, str], name: str, values: list[object]) -> None:
    known = [*texts]
    uuid = known[int(str(values[0])) % len(known)] if known and values else ""
    if name == "remember":
        body, room, tag = (int(str(value)) for value in values)
        text = f"{TEXT if body < 3 else LONGER} {body % 3}"
        draft = Draft(text=text, room=("A", "B", "")[room], tags=[f"t{tag}"], importance=tag / 4)
        drawer = memory.remember("shop", draft)
        texts[drawer.uuid] = drawer.text
    elif name == "undo":
        before = rows(memory)
        report = memory.dream()
        if report.run:
            memory.undo_dream(report.run)
        assert rows(memory) == before
    elif name in ("dream", "dry"):
        memory.dream(dry_run=name == "dry")
        if name == "dream":
            assert memory.dream().run == 0
    elif uuid and name == "purge":
        gone = _with_superseded(memory, uuid)
        assert memory.forget("shop", uuid, purges=True)
        for drawer in gone:
            del texts[drawer]
    elif uuid and name == "update":
        with memory.database.read() as connection:
            query = "SELECT deleted_at_epoch FROM drawers WHERE uuid = ?"
            [deleted] = connection.execute(query, (uuid,)).fetchone()
        if deleted is None:
            texts[uuid] = memory.update("shop", uuid, f"{TEXT} {len(texts) % 3}").text
    elif uuid:
        getattr(memory, name)("shop", uuid)


def _with_superseded(memory: Memory, uuid: str) -> set[str]:
    with memory.database.read() as connection:
        links = dict(
            connection.execute(
                "SELECT d.uuid, s.uuid FROM drawers d JOIN drawers s ON s.id = d.superseded_by"
            )
        )
    gone = {uuid}
    while more := {one for one, by in links.items() if by in gone} - gone:
        gone |= more
    return gone


def _holds(memory: Memory, texts: dict[str, str]) -> None:
    with memory.database.read() as connection:
        assert dict(connection.execute("SELECT uuid, text FROM drawers")) == texts
        [hidden] = connection.execute(
            "SELECT count(*) FROM drawers d JOIN drawers s ON s.id = d.superseded_by"
            " WHERE d.deleted_at_epoch IS NULL AND s.deleted_at_epoch IS NOT NULL"
        ).fetchone()
    assert hidden == 0  # what nobody forgot can be recalled
    assert memory.database.check() == []


def _version(memory: Memory) -> tuple[int, int]:
    """What changes with each write of another connection, and of this one."""
    with memory.database.read() as connection:
        [version] = connection.execute("PRAGMA data_version").fetchone()
    return version, memory.database._writer.total_changes


def test_closets_are_the_words_of_a_room(memory: Memory) -> None:
    rooms = {
        "billing": ["invoice and ledger", "the ledger of an invoice", "invoice rounding"],
        "search": ["trigram postings", "postings of a trigram", "trigram merge"],
    }
    assert closets.keywords(rooms) == {
        "billing": ["invoice", "ledger"],
        "search": ["trigram", "postings"],
    }
    for room, texts in rooms.items():
        for text in texts:
            memory.remember("shop", Draft(text=text, room=room))
    assert memory.dream().closets == 2
    assert memory.closets("shop")["billing"] == ["invoice", "ledger"]


def test_writers_are_not_kept_waiting(memory: Memory) -> None:
    for number in range(600):
        memory.remember("shop", Draft(text=f"{TEXT} {number % 300}"))
    other = Memory(memory.folder)
    waits: list[float] = []
    ended = threading.Event()

    def write() -> None:
        while not ended.is_set():
            began = time.perf_counter()
            other.remember("shop", Draft(text=f"new {len(waits)}"))
            waits.append(time.perf_counter() - began)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        report = memory.dream(budget_s=20)
    finally:
        ended.set()
        writer.join()
        other.close()
    assert report.superseded >= 300
    assert len(waits) > 10
    assert sorted(waits)[len(waits) // 2] < 0.1
    left = memory.dream()
    assert left.left == 0
    with memory.database.read() as connection:
        counted = connection.execute("SELECT count(*) FROM drawers").fetchone()
    assert counted == (600 + len(waits),)


def test_two_runs_at_once_link_everything_once(memory: Memory) -> None:
    for number in range(300):
        memory.remember("shop", Draft(text=f"{TEXT} {number % 100}", tags=[f"t{number % 7}"]))
    other = Memory(memory.folder)
    threads = [threading.Thread(target=each.dream) for each in (memory, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    memory.dream()
    assert len(memory.listed("shop", limit=1_000)) == 100
    changes = [change.drawer for change in memory.dreams(1_000) if change.step == "duplicate"]
    assert len(changes) == len(set(changes)) == 200
    other.close()


def _remember_many(memory: Memory, count: int) -> None:
    """Write drawers of which each third says what an earlier one says."""
    with memory.database.write() as connection:
        connection.executemany(
            "INSERT INTO drawers (uuid, palace_id, room, room_key, text, created_at_epoch,"
            " updated_at_epoch) VALUES (?, 1, 'General', 'general', ?, ?, ?)",
            [
                (f"{number:036}", _text(number - number % 3), number, number)
                for number in range(count)
            ],
        )


def _text(number: int) -> str:
    return " ".join(f"word{number * step % 100_003}" for step in range(1, 26))


def _cancelled_in_the_middle(memory: Memory, count: int, within_s: float) -> None:
    _remember_many(memory, count)
    cancelled, ended = threading.Event(), []

    def dream() -> None:
        ended.append(memory.dream(budget_s=600, cancelled=cancelled))

    thread = threading.Thread(target=dream)
    thread.start()
    while memory.dream(dry_run=True, budget_s=0).left > count * 0.9:
        time.sleep(0.01)
    began = time.monotonic()
    cancelled.set()
    thread.join(60)
    assert time.monotonic() - began < within_s
    assert ended[0].ended == "cancelled"
    assert 0 < ended[0].left < count
    print(f"\ncancelled after {time.monotonic() - began:.3f} s, {ended[0].left:,} were left")


def test_a_run_is_cancelled_in_time(memory: Memory) -> None:
    _cancelled_in_the_middle(memory, 3_000, 2.0)


@pytest.mark.slow
def test_a_run_of_a_hundred_thousand_drawers_is_cancelled_in_time(memory: Memory) -> None:
    _cancelled_in_the_middle(memory, 100_000, 2.0)
    began, cpu = time.monotonic(), time.process_time()
    report = memory.dream(budget_s=900)
    print(f"\nthe rest took {time.monotonic() - began:.1f} s, CPU {time.process_time() - cpu:.1f}")
    assert report.ended == "done"
    [kept] = memory.database._writer.execute(
        "SELECT count(*) FROM drawers WHERE superseded_by IS NULL"
    ).fetchone()
    assert kept == 33_334


def test_idle_work_waits_until_nobody_uses_the_memory(memory: Memory, tmp_path: Path) -> None:
    memory.remember("shop", Draft(text=TEXT))
    memory.remember("shop", Draft(text=TEXT))
    cancelled = threading.Event()
    assert idle.once(memory, cancelled) is None
    assert len(memory.listed("shop")) == 2
    time.sleep(0.02)
    report = idle.once(memory, cancelled, 0.01)
    assert report is not None
    assert report.superseded == 1
    cancelled.set()
    memory.remember("shop", Draft(text=TEXT))
    time.sleep(0.02)
    report = idle.once(memory, cancelled, 0.01)
    assert report is not None
    assert report.ended == "cancelled"
    none = Memory(str(tmp_path / "none"))
    assert idle.once(none, threading.Event(), 0.0) is None
    assert not (tmp_path / "none").exists()


def test_a_use_ends_idle_work(memory: Memory) -> None:
    for number in range(2_000):
        memory.remember("shop", Draft(text=f"{TEXT} {number}"))
    time.sleep(0.02)
    using = threading.Timer(0.1, lambda: memory.listed("shop"))
    using.start()
    report = idle.once(memory, threading.Event(), 0.01)
    using.join()
    assert report is not None
    assert report.ended == "cancelled"
    assert report.left > 0


def test_idle_work_logs_what_fails(memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
    memory.remember("shop", Draft(text=TEXT))
    with memory.database.write() as connection:
        connection.execute("DROP TABLE closets")
    memory.close()
    time.sleep(0.02)
    assert idle.once(memory, threading.Event(), 0.01) is None
    assert [record.getMessage() for record in caplog.records] == ["memory not consolidated"]
