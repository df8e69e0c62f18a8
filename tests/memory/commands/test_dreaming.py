"""`triseek memory dream|audit` as people type them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.running import Outcome, triseek
from triseek.memory.service import Memory

if TYPE_CHECKING:
    from pathlib import Path

KEY = "AKIA" + "IOSFODNN7" + "EXAMPLE"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository."""
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    return folder


def memory(folder: Path, *words: str) -> Outcome:
    return triseek(["memory", *words], folder)


def document(folder: Path, *words: str, status: int = 0) -> Any:
    done = memory(folder, *words, "--json")
    assert done.status == status, done.err
    return json.loads(done.out)


def text(folder: Path, *words: str, status: int = 0) -> str:
    done = memory(folder, *words)
    assert done.status == status, done.err
    return done.out.decode()


def twice(shop: Path) -> list[str]:
    """Remember a sentence twice, and return both ids."""
    words = ("remember", "Staging is reset every night")
    return [document(shop, *words, "--tag", tag)["drawer_id"] for tag in ("ops", "db")]


def test_a_run_is_planned_done_read_and_undone(shop: Path) -> None:
    first, second = twice(shop)
    planned = text(shop, "dream", "--dry-run")
    assert "2 drawers compared" in planned
    assert "1 would be superseded" in planned
    assert f"{first[:8]} is superseded by {second[:8]}" in planned
    assert document(shop, "dream", "--log", status=1) == {"changes": []}
    report = document(shop, "dream")
    assert (report["run"], report["superseded"], report["left"]) == (1, 1, 0)
    duplicate, tags = report["changes"]
    assert (duplicate["drawer_id"], duplicate["superseded_by"]) == (first, second)
    assert (tags["drawer_id"], tags["tags_added"]) == (second, ["ops"])
    [kept] = document(shop, "list")["drawers"]
    assert (kept["drawer_id"], kept["tags"]) == (second, ["db", "ops"])
    log = text(shop, "dream", "--log").splitlines()
    assert log[0].startswith("run 1  ")
    assert log[0].endswith(f"shop  {second[:8]} gets the tags #ops")
    assert text(shop, "dream", "--undo", "1") == "2 changes undone\n"
    assert len(document(shop, "list")["drawers"]) == 2
    assert text(shop, "dream", "--log").count("(undone)") == 2
    assert document(shop, "dream")["run"] is None


def test_what_is_not_there_is_said(shop: Path) -> None:
    assert "Nothing is kept" in text(shop, "dream", status=1)
    assert "Nothing is kept" in text(shop, "audit", status=1)
    assert document(shop, "dream", status=1) == {"run": None}
    memory(shop, "remember", "Staging")
    for words, message in (
        (("dream", "--undo", "7"), "there is no run 7"),
        (("dream", "--log", "--dry-run"), "do not go together"),
        (("dream", "--palace", "none"), "there is no palace 'none'"),
        (("audit", "--palace", "none"), "there is no palace 'none'"),
    ):
        done = memory(shop, *words)
        assert done.status == 2
        assert message in done.err
        assert done.err.count("\n") == 1
    assert "Nothing to report" in text(shop, "audit", status=1)


def test_an_audit_names_what_mends_each_finding(shop: Path) -> None:
    twice(shop)
    memory(shop, "remember", "See src/gone.py")
    memory(shop, "kg", "assert", "a", "depends_on", "b")
    memory(shop, "kg", "assert", "b", "depends_on", "a")
    report = document(shop, "audit")
    assert report["counts"] == {"duplicate": 1, "gone": 1, "loop": 1}
    assert {finding["next_step"].rpartition(" -")[0] or finding["next_step"]
            for finding in report["findings"]} >= {
        "triseek memory dream", "triseek memory kg retract b depends_on a",
    }  # fmt: skip
    printed = text(shop, "audit")
    assert "Said twice (1)" in printed
    assert "src/gone.py does not exist any more" in printed
    for finding in report["findings"]:
        assert finding["next_step"] in printed
    memory(shop, "dream")
    memory(shop, "kg", "retract", "b", "depends_on", "a")
    assert document(shop, "audit")["counts"] == {"gone": 1}


def test_secrets_are_removed_by_fix(shop: Path) -> None:
    memory(shop, "remember", "the key is KEY")
    kept = Memory()
    with kept.database.write() as connection:
        connection.execute("UPDATE drawers SET text = replace(text, 'KEY', ?)", (KEY,))
    kept.close()
    assert "holds a secret" in text(shop, "audit")
    assert KEY not in text(shop, "audit")
    report = document(shop, "audit", "--fix", status=1)
    assert (report["secrets_removed"], report["is_rewritten"]) == (1, True)
    assert KEY not in text(shop, "list")


def test_hostile_text_does_not_reach_the_terminal(shop: Path) -> None:
    twice(shop)
    kept = Memory()
    with kept.database.write() as connection:
        connection.execute("UPDATE drawer_tags SET tag = ?", ("\x1b[31mred",))
        connection.execute("UPDATE drawers SET room = ?", ("\x1b[2Jroom",))
    kept.close()
    for words in (("dream",), ("dream", "--log"), ("audit",)):
        assert "\x1b" not in memory(shop, *words).out.decode()
