"""Recall by words: all ways answer alike, at once, and whatever becomes of the index's files."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from triseek.kernels import cache
from triseek.memory import drawers, palaces, word_search
from triseek.memory.drawers import Draft
from triseek.memory.service import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from triseek.memory.service import Recalled

HOUR = 3_600_000
START = 1_683_500_000_000
WORDS = [f"{first}{end}" for first in ("alpha", "beta", "gamma", "delta", "develop")
         for end in ("", "s", "ing", "er", "tion", "HTTP", "zz", "_ity")]  # fmt: skip
QUERIES = ["alpha", "betaing delta in june", "develoption gammas", "alphaHTTP deltas_ity room 3"]

HOSTILE = [
    "", " ", "the", "alpha AND OR NOT", 'alpha"', "col:alpha NEAR(alpha, 2) ^*", "alpha\0beta",
    "\ud800 alpha", "alpha " * 200_000, "a" * 1_000_000, "İ ß ﬁ 日本語", "--; DROP TABLE drawers",
    "2023", "in june", "x" * 64 + "\n" * 9,
]  # fmt: skip


@pytest.fixture(autouse=True)
def kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    from triseek.kernels import recall

    assert recall.refine
    monkeypatch.setattr(cache, "is_ready", lambda: True)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    memory = Memory(str(tmp_path / "memory"))
    memory.create("shop")
    memory.create("other")
    yield memory
    memory.close()


def fill(memory: Memory, seed: int, count: int, palace: str = "shop") -> None:
    draw = random.Random(seed)
    with memory.database.write() as connection:
        number = palaces.id_of(connection, palace)
        for at in range(count):
            draft = Draft(
                text=" ".join(draw.choices(WORDS, k=draw.randint(1, 12))),
                room=f"room {draw.randint(1, 3)}",
                tags=[draw.choice(["red", "blue", "green"])],
            )
            drawers.add(connection, number, draft, START + at * HOUR // 3)


def ways(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Put the memory into each state in which it ranks in the same way."""
    assert not os.path.exists(os.path.join(memory.folder, "recall"))
    yield "words"  # all in memory
    memory.prepare()
    yield "words"  # all in files
    with memory.database.write() as connection:
        connection.execute("UPDATE drawers SET text = text WHERE id % 7 = 0")
    yield "words"  # some in memory
    monkeypatch.setattr(cache, "is_ready", lambda: False)
    yield "scan"


def answer(recalled: Recalled) -> list[tuple[int, object]]:
    return [(hit.drawer.id, pytest.approx(hit.score, abs=1e-5)) for hit in recalled.hits]


def texts(memory: Memory, query: str, palace: str = "shop", **options: object) -> list[str]:
    recalled = memory.recall(palace, query, **options)  # type: ignore[arg-type]
    return [hit.drawer.text for hit in recalled.hits]


def test_all_ways_rank_alike(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(memory, 1, 300)
    fill(memory, 2, 50, "other")
    with memory.database.write() as connection:
        connection.execute("UPDATE drawers SET superseded_by = 1 WHERE id % 11 = 2")
    options: list[dict[str, object]] = [
        {}, {"room": "Room 2"}, {"tag": "red"}, {"since_ms": START + 70 * HOUR}, {"deep": True},
        {"deep": True, "tag": "blue", "room": "room 1"},
    ]  # fmt: skip
    first: dict[str, list[tuple[int, object]]] = {}
    weights: dict[str, object] = {}
    for lane in ways(memory, monkeypatch):
        for query in QUERIES:
            for some in options:
                recalled = memory.recall("shop", query, 100, **some)  # type: ignore[arg-type]
                assert recalled.lane == lane
                assert recalled.hits
                assert answer(recalled) == first.setdefault(f"{query} {some}", answer(recalled))
                assert all(0 <= hit.score <= 1 for hit in recalled.hits)
                assert recalled.weights == weights.setdefault(
                    query, pytest.approx(recalled.weights)
                )


def test_filters_leave_the_order_as_it_is(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triseek.memory.service.TOP_MAX", 10_000)
    fill(memory, 3, 900)
    for query in QUERIES:
        everything = memory.recall("shop", query, 10_000).hits
        filters: list[dict[str, object]] = [
            {"tag": "red"}, {"room": "room 1"}, {"since_ms": START + 200 * HOUR},
        ]  # fmt: skip
        for some in filters:
            some_ids = {
                one.id
                for one in memory.listed("shop", limit=1_000, **some)  # type: ignore[arg-type]
            }
            wanted = [hit for hit in everything if hit.drawer.id in some_ids]
            filtered = memory.recall("shop", query, 10_000, **some)  # type: ignore[arg-type]
            both = [hit for hit in filtered.hits if hit in everything]
            assert [hit.drawer for hit in both] == [hit.drawer for hit in wanted]
            assert filtered.hits[:100] == tuple(wanted[:100])


def test_a_filter_finds_what_ranks_behind_everything(memory: Memory) -> None:
    with memory.database.write() as connection:
        number = palaces.id_of(connection, "shop")
        last = drawers.add(connection, number, Draft(text="x " * 300 + "retry", tags=["rare"]), 1)
        for at in range(300):
            at_ms = START + at * 2 * HOUR
            drawers.add(connection, number, Draft(text="retry the queue: retry"), at_ms)
    assert last.text not in texts(memory, "retry queue", top_k=100)
    assert texts(memory, "retry queue", tag="rare") == [last.text]


def test_words_weigh_as_in_the_palace(memory: Memory) -> None:
    for at in range(20):
        memory.remember("other", Draft(text=f"quetzal number {at}"))
    memory.remember("shop", Draft(text="a quetzal"))
    memory.remember("shop", Draft(text="retry of the queue"))
    weights = memory.recall("shop", "quetzal queue").weights
    assert weights["quetzal"] == pytest.approx(weights["queue"])
    assert memory.recall("shop", "quetzal queue").terms == ("quetzal", "queue")
    assert len(memory.recall("other", "quetzal", 50).hits) == 20


@pytest.mark.parametrize("prepares", [False, True])
def test_each_change_is_seen_at_once(memory: Memory, prepares: bool) -> None:
    fill(memory, 4, 60)
    if prepares:
        memory.prepare()
    other = Memory(memory.folder)  # as another process has it

    def seen(query: str) -> list[str]:
        found = texts(memory, query)
        assert found == texts(other, query)
        return found

    drawer = memory.remember("shop", Draft(text="The quetzal is green."))
    assert seen("quetzal") == ["The quetzal is green."]
    other.update("shop", drawer.uuid, "The heron is grey.")
    assert (seen("quetzal"), seen("heron")) == ([], ["The heron is grey."])
    assert memory.forget("shop", drawer.uuid)
    assert seen("heron") == []
    assert other.restore("shop", drawer.uuid)
    assert seen("heron") == ["The heron is grey."]
    newer = memory.remember("shop", Draft(text="The heron is grey, and old."))
    with other.database.write() as connection:
        connection.execute(
            "UPDATE drawers SET superseded_by = ? WHERE id = ?", (newer.id, drawer.id)
        )
    assert seen("heron") == ["The heron is grey, and old."]
    assert len(texts(memory, "heron", deep=True)) == 2
    assert other.forget("shop", newer.uuid, purges=True)
    assert seen("heron") == []  # what it superseded goes with it
    other.delete_palace("shop")
    memory.create("shop")
    assert seen("heron") == seen("alpha") == []
    other.close()


def test_many_changes_leave_few_segments_and_no_old_answer(memory: Memory) -> None:
    draw = random.Random(5)
    fill(memory, 5, 40)
    memory.prepare()
    kept = {}
    for at in range(120):
        if kept and draw.random() < 0.4:
            uuid = draw.choice(sorted(kept))
            if draw.random() < 0.5:
                memory.forget("shop", uuid)
                del kept[uuid]
            else:
                kept[uuid] = f"heron number{at}"
                memory.update("shop", uuid, kept[uuid])
        else:
            text = f"heron number{at}"
            room = f"room {draw.randint(1, 9)}"
            kept[memory.remember("shop", Draft(text=text, room=room)).uuid] = text
        assert sorted(texts(memory, "heron", top_k=100)) == sorted(kept.values())
    assert len(memory._words._fresh._state.layers) < 8  # type: ignore[union-attr]
    assert memory._words._fresh.messages < 250  # in groups that were merged


def test_another_process_sees_what_was_written(memory: Memory, tmp_path: Path) -> None:
    fill(memory, 6, 30)
    memory.prepare()
    memory.remember("shop", Draft(text="The quetzal is green."))
    code = (
        "import sys; from triseek.memory.service import Memory; from triseek.memory.drawers import"
        " Draft; memory = Memory(sys.argv[1]);"
        "print([hit.drawer.text for hit in memory.recall('shop', 'quetzal').hits]);"
        "memory.remember('shop', Draft(text='A heron.'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, memory.folder], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "['The quetzal is green.']"
    assert texts(memory, "heron") == ["A heron."]


@pytest.mark.parametrize("damage", ["flipped", "truncated", "missing", "folder"])
def test_files_of_the_index_are_disposable(memory: Memory, damage: str) -> None:
    fill(memory, 7, 60)
    wanted = [answer(memory.recall("shop", query, 50)) for query in QUERIES]
    memory.prepare()
    folder = memory._words._index._folder
    names = sorted(path.relative_to(folder).name for path in folder.rglob("*") if path.is_file())
    assert len(names) == 15
    for name in names:
        memory.prepare()
        [path] = folder.rglob(name)
        data = path.read_bytes()
        if damage == "flipped":
            path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        elif damage == "truncated":
            path.write_bytes(data[: len(data) // 2])
        elif damage == "missing":
            path.unlink()
        else:
            for one in folder.rglob("*"):
                if one.is_file():
                    one.unlink()
        again = Memory(memory.folder)
        assert [answer(again.recall("shop", query, 50)) for query in QUERIES] == wanted
        again.prepare()
        assert [answer(again.recall("shop", query, 50)) for query in QUERIES] == wanted
        again.close()


def test_an_index_of_a_database_that_was_deleted_answers_nothing(memory: Memory) -> None:
    fill(memory, 8, 30)
    memory.prepare()
    memory.close()
    for name in ("memory.db", "memory.db-wal", "memory.db-shm"):
        path = os.path.join(memory.folder, name)
        if os.path.exists(path):
            os.unlink(path)
    again = Memory(memory.folder)
    again.create("shop")
    again.remember("shop", Draft(text="A heron."))
    assert texts(again, "alpha") == []
    assert texts(again, "heron") == ["A heron."]
    again.prepare()
    assert texts(again, "alpha") == []
    assert texts(again, "heron") == ["A heron."]
    again.close()


def test_many_new_drawers_are_written_to_files_meanwhile(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_search, "FLUSHED", 20)
    monkeypatch.setattr(memory._words._source, "in_memory_max", 40, raising=False)
    fill(memory, 9, 30)
    assert memory.recall("shop", "alpha").lane == "words"
    memory._words.close()
    assert sum(len(one.segment.message_ids) for one in memory._words._index.open().segments) == 30
    fill(memory, 10, 300)
    before = memory.recall("shop", "alpha gammazz", 100)
    assert before.lane == "scan"  # while it is indexed
    memory._words.close()
    after = memory.recall("shop", "alpha gammazz", 100)
    assert after.lane == "words"
    assert answer(after) == answer(before)


def test_a_failing_index_fails_no_recall(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_search, "FLUSHED", 1)
    fill(memory, 11, 30)
    (memory._words._index._folder).write_bytes(b"no folder")
    assert texts(memory, "alpha")
    memory._words.close()
    memory.remember("shop", Draft(text="A heron."))
    assert texts(memory, "heron") == ["A heron."]


def test_a_large_palace_is_searched_by_full_text_without_kernels(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(memory, 12, 60)
    memory.remember("shop", Draft(text="Where is the heron?", tags=["bird"]))
    monkeypatch.setattr(word_search, "SCANNED_MAX", 50)
    monkeypatch.setattr(cache, "is_ready", lambda: False)
    recalled = memory.recall("shop", "the heron of the alphas")
    assert recalled.lane == "full-text"
    assert recalled.hits[0].drawer.text == "Where is the heron?"
    assert texts(memory, "where is the") == []  # stop words
    assert texts(memory, "heron", tag="bird") == ["Where is the heron?"]


def test_no_word_of_what_was_purged_is_in_the_index(memory: Memory) -> None:
    fill(memory, 13, 30)
    drawer = memory.remember("shop", Draft(text="quetzal"))
    memory.prepare()

    def has(word: bytes) -> bool:
        files = [one for one in memory._words._index._folder.rglob("*") if one.is_file()]
        return any(word in one.read_bytes() for one in files)

    assert has(b"quetzal")
    memory.forget("shop", drawer.uuid, purges=True)
    assert not has(b"quetzal")
    assert has(b"alpha")
    memory.delete_palace("shop")
    assert not has(b"alpha")


@pytest.mark.parametrize("lane", ["words", "scan", "full-text"])
def test_any_text_is_a_query(memory: Memory, monkeypatch: pytest.MonkeyPatch, lane: str) -> None:
    fill(memory, 14, 30)
    if lane != "words":
        monkeypatch.setattr(cache, "is_ready", lambda: False)
    if lane == "full-text":
        monkeypatch.setattr(word_search, "SCANNED_MAX", 5)
    for query in HOSTILE:
        recalled = memory.recall("shop", query, 5, tag="red", room="room 1")
        assert recalled.lane == lane or not recalled.terms
        assert (len(recalled.hits) > 0) == ("alpha" in query)
    assert memory.recall("shop", "alpha", since_ms=1 << 80).hits == ()


@pytest.mark.parametrize("text", ["parseHTTPHeader", "foo.bar-baz", "JWT_tokens", "src/userMap.py"])
def test_identifiers_are_found_by_their_parts(memory: Memory, text: str) -> None:
    fill(memory, 15, 10)
    memory.remember("shop", Draft(text=f"Look at {text} first."))
    parts = {"parseHTTPHeader": "header http", "foo.bar-baz": "baz", "JWT_tokens": "token",
             "src/userMap.py": "map"}  # fmt: skip
    for query in (text, parts[text]):
        assert texts(memory, query)[0] == f"Look at {text} first."


def test_the_same_name_comes_before_names_that_begin_alike(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    for at in range(10, 30):
        memory.remember("shop", Draft(text=f"The ticket ticket{at} waits."))
    for lane in ("words", "scan"):
        monkeypatch.setattr(cache, "is_ready", lambda lane=lane: lane == "words")
        for at in range(10, 30):
            assert memory.recall("shop", f"ticket{at}").lane == lane
            assert texts(memory, f"ticket{at}")[0] == f"The ticket ticket{at} waits."


def test_tags_and_rooms_are_words(memory: Memory) -> None:
    memory.remember("shop", Draft(text="It waits.", room="Billing", tags=["retry-policy"]))
    memory.remember("shop", Draft(text="It runs."))
    assert texts(memory, "retry") == texts(memory, "billing") == ["It waits."]
    memory.remember("shop", Draft(text="We met.", room="session_7"))
    assert texts(memory, "on the 7th of the session") == ["We met."]
    assert texts(memory, "7") == []


def test_importance_decides_between_like_answers_alone(memory: Memory) -> None:
    low = memory.remember("shop", Draft(text="retry the queue", importance=0))
    high = memory.remember("shop", Draft(text="retry the queue", importance=1))
    best = memory.remember("shop", Draft(text="why we retry: the payment queue", importance=0))
    hits = memory.recall("shop", "retry queue").hits
    ids = [hit.drawer.id for hit in hits]
    assert ids.index(high.id) < ids.index(low.id)
    assert memory.recall("shop", "why payment retry").hits[0].drawer.id == best.id


def test_drawers_written_near_one_another_are_a_group(memory: Memory) -> None:
    def group(room: str, at_ms: int, text: str = "x") -> int:
        with memory.database.write() as connection:
            palace = palaces.id_of(connection, "shop")
            drawer = drawers.add(connection, palace, Draft(text=text, room=room), at_ms)
            [number] = connection.execute(
                "SELECT group_id FROM drawers WHERE id = ?", (drawer.id,)
            ).fetchone()
        return int(number)

    first = group("a", START)
    assert group("A", START + HOUR) == first
    other = group("b", START + HOUR)
    assert other != first
    assert group("a", START + 2 * HOUR) == first
    later = group("a", START + 3 * HOUR + 1)
    assert later not in (first, other)
    assert group("a", START + 3 * HOUR + 2, "x" * 60_000) == later
    assert group("a", START + 3 * HOUR + 3) != later  # it has grown too large
