"""An export is restored to the byte, and what is wrong in a file harms nothing."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.secret_values import SECRETS
from triseek.errors import FormatTooNew, InvalidRequest
from triseek.memory import graph
from triseek.memory.drawers import Draft
from triseek.memory.exchange import exporting, importing, sources
from triseek.memory.service import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.memory.exchange.importing import ImportReport

NOW = 1_790_000_000_000
UUID = "0f9c2d1a-0000-4000-8000-00000000000{}"
HEADER = {"format": exporting.FORMAT, "version": exporting.VERSION}
PALACE = {"kind": "palace", "name": "shop"}
DRAWER = {"kind": "drawer", "drawer_id": UUID.format(1), "content": "Prices are in cents"}
FACT = {"kind": "fact", "subject": "checkout", "predicate": "uses", "object": "stripe"}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    opened = Memory(str(tmp_path / "memory"))
    yield opened
    opened.close()


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Memory]:
    opened = Memory(str(tmp_path / "other"))
    yield opened
    opened.close()


def exported(memory: Memory, *, with_forgotten: bool = True) -> str:
    palaces = memory.palaces()
    return "".join(exporting.lines(memory.database, palaces, with_forgotten=with_forgotten))


def imported(memory: Memory, text: str, *, palace: str = "", dry_run: bool = False) -> ImportReport:
    with sources.opened("-", io.BytesIO(text.encode())) as source:
        records = source.records(palace)
        return importing.run(memory.database, records, NOW, palace=palace, dry_run=dry_run)


def written(*lines: Any) -> str:
    return "".join(f"{json.dumps(line)}\n" for line in (HEADER, *lines))


def fill(memory: Memory) -> None:
    """Everything that an export can hold."""
    for palace in ("shop", "Notes of mine"):
        memory.create(palace, "A description")
    memory.use("shop", "/srv/shop")
    memory.set_identity("shop", "A web shop.\nFlask, PostgreSQL")
    drawers = [
        memory.remember("shop", Draft(
            text=f"Text {number} {'ü' * number}\n“quoted”\tand a tab", room=room,
            tags=["b", "a"][:number], importance=number / 7, source="docs/x.md" if number else "",
        ))
        for number, room in enumerate(("backend", "Custom Room", "", "TESTING"))
    ]  # fmt: skip
    memory.update("shop", drawers[0].uuid, "Text 0, changed")
    memory.update("shop", drawers[0].uuid, "Text 0, changed again")
    memory.forget("shop", drawers[1].uuid)
    with memory.database.write() as connection:
        connection.execute(
            "UPDATE drawers SET superseded_by = ? WHERE id = ?", (drawers[3].id, drawers[2].id)
        )
    for target in ("stripe", "paypal", "paypal", "stripe"):  # some of them in one millisecond
        memory.assert_fact("shop", ("checkout", "uses", target), confidence=1 / 3, provenance="me")
    for target in ("redis", "postgres"):
        memory.assert_fact("shop", ("api", "depends_on", target), multi=True)
    memory.retract("shop", ("api", "depends_on", "redis"))


def test_an_export_is_restored_to_the_byte(memory: Memory, other: Memory) -> None:
    fill(memory)
    text = exported(memory)
    report = imported(other, text)
    assert (report.palaces, report.drawers, report.left_out) == (["Notes of mine", "shop"], 4, 0)
    assert exported(other) == text
    assert other.palace_of("/srv/shop") == "shop"
    assert [hit.drawer.text for hit in other.recall("shop", "changed").hits] == [
        "Text 0, changed again"
    ]


def test_a_second_import_changes_nothing(memory: Memory, other: Memory) -> None:
    fill(memory)
    text = exported(memory)
    first = imported(other, text)
    second = imported(other, text)
    assert (second.drawers, second.facts, second.left_out) == (0, 0, 0)
    assert second.known == first.drawers + first.facts
    assert exported(other) == text
    imported(memory, text)
    assert exported(memory) == text


def test_what_was_forgotten_is_exported_only_if_asked_for(memory: Memory) -> None:
    fill(memory)
    text = exported(memory, with_forgotten=False)
    assert "Text 1" not in text
    assert text.count("changed") == 1
    assert "Text 1" in exported(memory)


def test_a_drawer_changed_since_stays_changed(memory: Memory) -> None:
    drawer = memory.remember(*shop(memory))
    text = exported(memory)
    memory.update("shop", drawer.uuid, "Prices are in euros")
    imported(memory, text)
    assert memory.drawer("shop", drawer.uuid).text == "Prices are in euros"


def shop(memory: Memory) -> tuple[str, Draft]:
    memory.create("shop")
    return "shop", Draft(text="Prices are in cents")


@pytest.mark.parametrize("count", range(5))
def test_an_import_that_was_interrupted_is_completed(
    count: int, memory: Memory, other: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(memory)
    text = exported(memory)
    monkeypatch.setattr(importing, "BATCH", 2)

    def interrupt(_stage: str, done: int, _total: int) -> None:
        if done > 2 * count:
            raise KeyboardInterrupt

    with (
        pytest.raises(KeyboardInterrupt),
        sources.opened("-", io.BytesIO(text.encode())) as source,
    ):
        importing.run(other.database, source.records(""), NOW, progress=interrupt)
    imported(other, text)
    assert exported(other) == text


def test_a_drawer_that_is_shown_again_stays_so(memory: Memory) -> None:
    fill(memory)
    text = exported(memory)
    with memory.database.write() as connection:
        connection.execute("UPDATE drawers SET superseded_by = NULL")
    imported(memory, text)
    assert "superseded_by" not in exported(memory)


def test_a_fact_that_ended_since_is_not_opened_again(memory: Memory) -> None:
    memory.create("shop")
    with memory.database.write() as connection:
        connection.execute(
            "INSERT INTO triples (palace_id, subject, predicate, object, valid_from)"
            " VALUES (1, 'checkout', 'uses', 'stripe', 5)"
        )
    text = exported(memory)
    memory.retract("shop", ("checkout", "uses", "stripe"))
    report = imported(memory, text)
    assert (report.facts, report.known) == (0, 1)
    assert memory.facts("shop", "checkout") == []


def test_a_fact_that_has_ended_elsewhere_ends_here(memory: Memory) -> None:
    imported(memory, written(PALACE, {**FACT, "valid_from": 5}))
    report = imported(memory, written(PALACE, {**FACT, "valid_from": 5, "valid_to": 9}))
    assert report.known == 1
    assert [triple.valid_to for triple in memory.fact_history("shop", "checkout")] == [9]


ENDS = st.lists(st.integers(0, 3), min_size=1, max_size=8)


@settings(max_examples=30)
@given(ENDS, st.lists(st.sampled_from(["stripe", "paypal"]), min_size=8, max_size=8))
def test_facts_of_one_millisecond_are_restored(
    tmp_path_factory: pytest.TempPathFactory, steps: list[int], targets: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("facts")
    memory, other = Memory(str(folder / "a")), Memory(str(folder / "b"))
    try:
        memory.create("shop")
        with memory.database.write() as connection:
            now = 100
            for step, target in zip(steps, targets, strict=False):
                now += step
                graph.assert_fact(connection, 1, ("checkout", "uses", target), now)
        text = exported(memory)
        for _ in range(2):
            imported(other, text)
            assert exported(other) == text
    finally:
        memory.close()
        other.close()


@pytest.mark.parametrize(("begin", "holds"), [("2026-01-02", "paypal"), ("2025-12-31", "stripe")])
def test_of_two_facts_the_one_that_began_last_holds(begin: str, holds: str, memory: Memory) -> None:
    imported(memory, written(PALACE, {**FACT, "valid_from": "2026-01-01"}))
    imported(memory, written(PALACE, {**FACT, "object": "paypal", "valid_from": begin}))
    assert [triple.object for triple in memory.facts("shop", "checkout")] == [holds]
    assert len(memory.fact_history("shop", "checkout")) == 2


def test_everything_goes_to_the_palace_that_is_named(memory: Memory, other: Memory) -> None:
    fill(memory)
    report = imported(other, exported(memory), palace="all")
    assert (report.palaces, other.palaces()) == (["all"], ["all"])


def test_a_dry_run_writes_nothing(memory: Memory, other: Memory) -> None:
    fill(memory)
    text = exported(memory)
    planned = imported(other, text, dry_run=True)
    assert other.palaces() == []
    assert planned == imported(other, text)


def test_secrets_are_removed(memory: Memory) -> None:
    secret = SECRETS["github-token"](random.Random(1))
    imported(memory, written(
        {**PALACE, "description": secret, "identity": secret},
        {**DRAWER, "content": f"token {secret}", "tags": [secret], "source": secret,
         "earlier": [{"content": f"before {secret}", "until": 5}]},
        {**FACT, "object": secret, "provenance": secret},
    ))  # fmt: skip
    assert memory.info("shop").drawers == 1
    memory.close()
    [file] = Path(memory.folder).iterdir()
    assert secret.encode() not in file.read_bytes()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"drawer_id": "x"}, "UUID"),
        ({"drawer_id": 7}, "drawer_id is 7, not a text"),
        ({"content": ""}, "empty"),
        ({"content": None}, "empty"),
        ({"content": ["a"]}, "not a text"),
        ({"content": "x" * 100_001}, "100,000"),
        ({"room": "a\x1b[2Jb"}, "control"),
        ({"room": "r" * 201}, "200"),
        ({"tags": "a"}, "not a list of texts"),
        ({"tags": ["a", 1]}, "not a list of texts"),
        ({"tags": [f"t{number}" for number in range(51)]}, "50 tags"),
        ({"importance": "0.5"}, "not a number from 0 to 1"),
        ({"importance": 1e400}, "not a number from 0 to 1"),
        ({"importance": True}, "not a number from 0 to 1"),
        ({"created_at": "yesterday"}, "created_at"),
        ({"created_at": -1}, "created_at"),
        ({"created_at": 1 << 80}, "created_at"),
        ({"updated_at": {}}, "updated_at"),
        ({"superseded_by": "y"}, "UUID"),
        ({"superseded_by": DRAWER["drawer_id"]}, "supersedes itself"),
        ({"earlier": "x"}, "earlier"),
        ({"earlier": [{"content": "x"}]}, "has no time"),
        ({"kind": "vector"}, "kind"),
        ({"kind": ["drawer"]}, "kind"),
    ],
)
def test_a_wrong_drawer_is_named_and_the_others_are_imported(
    change: dict[str, Any], reason: str, memory: Memory
) -> None:
    good = {**DRAWER, "drawer_id": UUID.format(2)}
    report = imported(memory, written(PALACE, {**DRAWER, **change}, good))
    assert (report.drawers, report.left_out) == (1, 1)
    assert report.skipped[0].startswith("line 3: ")
    assert reason in report.skipped[0]
    assert [drawer.uuid for drawer in memory.listed("shop")] == [UUID.format(2)]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"subject": ""}, "empty"),
        ({"predicate": None}, "empty"),
        ({"object": "o" * 1_001}, "1,000"),
        ({"object": "a\nb"}, "control"),
        ({"confidence": "high"}, "confidence"),
        ({"valid_from": "2026-02-01", "valid_to": "2026-01-01"}, "ends before"),
    ],
)
def test_a_wrong_fact_is_named(change: dict[str, Any], reason: str, memory: Memory) -> None:
    report = imported(memory, written(PALACE, {**FACT, **change}, FACT))
    assert (report.facts, report.left_out) == (1, 1)
    assert reason in report.skipped[0]


@pytest.mark.parametrize("name", ["../x", "", "a/b", "a\0b", "x" * 101, 7, None])
def test_what_belongs_to_a_wrong_palace_is_left_out(name: object, memory: Memory) -> None:
    report = imported(memory, written({**PALACE, "name": name}, DRAWER, FACT))
    assert (report.palaces, report.left_out) == ([], 3)
    assert memory.palaces() == []


@pytest.mark.parametrize("root", ["relative", "/a\0b", "/a\nb", "/" + "a" * 5_000])
def test_a_root_that_is_no_path_is_refused(root: str, memory: Memory) -> None:
    report = imported(memory, written({**PALACE, "root": root}))
    assert "root" in report.skipped[0]


@pytest.mark.parametrize(
    "line",
    [b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"kind":' * 50_000, b"\0"],
)
def test_a_line_that_is_no_object_is_named(line: bytes, memory: Memory) -> None:
    text = written(PALACE).encode() + line + b"\n" + json.dumps(DRAWER).encode()
    with sources.opened("-", io.BytesIO(text)) as source:
        report = importing.run(memory.database, source.records(""), NOW)
    assert report.drawers == 1
    assert report.left_out == (line != b"\0")  # NULs are blank, as a crash leaves them


@pytest.mark.parametrize("version", [2, 99])
def test_a_later_version_is_refused_in_one_line(version: int, memory: Memory) -> None:
    with pytest.raises(FormatTooNew, match=f"version {version}"):
        imported(memory, json.dumps({**HEADER, "version": version}))


@pytest.mark.parametrize("text", ["", "\n\n", "{}", "[]", "x", '{"format":"triseek-memory"}'])
def test_what_is_no_export_is_refused(text: str, memory: Memory) -> None:
    with pytest.raises(InvalidRequest):
        imported(memory, text)
    assert not memory.exists()


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60)


@settings(max_examples=20)
@given(st.lists(st.tuples(TEXTS, st.lists(TEXTS, max_size=3), st.floats(0, 1)), max_size=8))
def test_any_text_comes_back_as_it_was_exported(
    tmp_path_factory: pytest.TempPathFactory, drafts: list[tuple[str, list[str], float]]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    memory, other = Memory(str(folder / "a")), Memory(str(folder / "b"))
    try:
        memory.create("shop")
        for text, tags, importance in drafts:
            try:
                memory.remember("shop", Draft(text=text, tags=tags, importance=importance))
            except InvalidRequest:
                continue
        first = exported(memory)
        imported(other, first)
        assert exported(other) == first
    finally:
        memory.close()
        other.close()
