"""`triseek memory …` as people type it."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.running import Outcome, triseek
from triseek.memory.service import Memory

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository."""
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    (folder / "src").mkdir()
    return folder


def memory(folder: Path, *words: str) -> Outcome:
    return triseek(["memory", *words], folder)


def document(folder: Path, *words: str) -> Any:
    done = memory(folder, *words, "--json")
    assert done.status == 0, done.err
    return json.loads(done.out)


def lines(folder: Path, *words: str) -> list[str]:
    done = memory(folder, *words)
    assert done.status == 0, done.err
    return done.out.decode().splitlines()


def texts(drawers: Sequence[Any]) -> list[str]:
    return [drawer["content"] for drawer in drawers]


def test_what_is_remembered_is_recalled_in_the_palace_of_the_repository(shop: Path) -> None:
    words = ("remember", "Staging is reset", "every night", "--room", "backend", "--tag", "ops",
             "--tag=db", "--importance", "0.9", "--source", "ops/reset.sql")  # fmt: skip
    kept = document(shop / "src", *words)
    assert (kept["palace"], kept["room"], kept["tags"]) == ("shop", "Backend", ["ops", "db"])
    answer = document(shop, "recall", "when", "is", "staging", "reset?")
    [result] = answer["results"]
    assert result["drawer_id"] == kept["drawer_id"]
    assert result["content"] == "Staging is reset every night"
    assert (result["importance"], result["source"]) == (0.9, "ops/reset.sql")
    text = lines(shop, "recall", "staging")
    assert kept["drawer_id"][:8] in text[0]
    assert text[1] == "    Staging is reset every night"


def test_a_text_is_read_from_standard_input(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = SimpleNamespace(buffer=io.BytesIO("Prices\nare in “cents”\xff".encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    kept = document(shop, "remember", "-")
    assert document(shop, "show", kept["drawer_id"])["content"] == "Prices\nare in “cents”\xff"


def test_lists_are_narrowed_down(shop: Path) -> None:
    for text, *more in (
        ("a", "--room", "Backend"), ("b", "--tag", "db"), ("c", "--importance", "1"),
    ):  # fmt: skip
        document(shop, "remember", text, *more)
    assert texts(document(shop, "list")["drawers"]) == ["c", "a", "b"]
    assert texts(document(shop, "list", "--room", "backend")["drawers"]) == ["a"]
    assert texts(document(shop, "list", "--tag", "db")["drawers"]) == ["b"]
    assert texts(document(shop, "list", "--limit", "1")["drawers"]) == ["c"]
    assert memory(shop, "list", "--since", "2030-01-01").status == 1
    assert len(lines(shop, "list")) == 3


def test_other_palaces_are_named(shop: Path, tmp_path: Path) -> None:
    assert lines(shop, "palaces", "--create", "notes", "--description", "Mine") == ["notes created"]
    assert lines(shop, "palaces", "--create", "notes") == ["notes exists"]
    document(shop, "remember", "a", "--palace", "notes")
    assert texts(document(shop, "list", "--palace", "notes")["drawers"]) == ["a"]
    assert memory(shop, "list").status == 1
    lines(shop, "palaces", "--use", "notes")
    assert texts(document(shop, "list")["drawers"]) == ["a"]
    [palace] = document(shop, "palaces")["palaces"]
    assert (palace["name"], palace["drawers"], palace["is_here"]) == ("notes", 1, True)
    assert lines(shop, "palaces")[0].startswith("* notes ")
    assert not document(tmp_path, "palaces")["palaces"][0]["is_here"]


def test_a_palace_is_deleted_only_on_purpose(shop: Path) -> None:
    document(shop, "remember", "a")
    refused = memory(shop, "palaces", "--delete", "shop")
    assert (refused.status, "1 drawer" in refused.err, "export" in refused.err) == (2, True, True)
    assert document(shop, "palaces", "--delete", "shop", "--yes")["drawers"] == 1
    assert memory(shop, "palaces").status == 1


def test_a_drawer_is_changed_forgotten_and_restored(shop: Path) -> None:
    name = document(shop, "remember", "Staging is reset every night")["drawer_id"]
    assert lines(shop, "update", name[:8], "It is reset on Mondays") == [f"updated {name[:8]}"]
    shown = document(shop, "show", name)
    assert shown["content"] == "It is reset on Mondays"
    assert texts(shown["earlier"]) == ["Staging is reset every night"]
    assert "Staging is reset every night" in lines(shop, "show", name[:8])
    assert document(shop, "forget", name[:4])["drawers"] == [
        {"drawer_id": name, "status": "deleted"}
    ]
    again = memory(shop, "forget", name)
    assert (again.status, b"already" in again.out) == (1, True)
    assert memory(shop, "list").status == 1
    assert texts(document(shop, "list", "--forgotten")["drawers"]) == ["It is reset on Mondays"]
    assert lines(shop, "restore", name) == [f"restored {name[:8]}"]
    assert memory(shop, "restore", name).status == 1
    assert lines(shop, "forget", name, "--purge") == [f"deleted {name[:8]}"]
    assert memory(shop, "list", "--forgotten").status == 1


def test_nothing_is_forgotten_if_one_id_is_wrong(shop: Path) -> None:
    name = document(shop, "remember", "a")["drawer_id"]
    assert memory(shop, "forget", name, "ffffffff").status == 2
    assert document(shop, "list")["drawers"]


def test_an_identity_is_written_shown_and_removed(shop: Path) -> None:
    assert memory(shop, "identity").status == 1
    assert lines(shop, "identity", "A web shop:", "Flask") == ["A web shop: Flask"]
    assert document(shop, "identity")["identity"] == "A web shop: Flask"
    assert lines(shop, "identity") == ["A web shop: Flask"]
    document(shop, "remember", "Prices are in cents")
    shown = lines(shop, "recall", "cents", "--essentials")
    assert shown[0] == "A web shop: Flask"
    assert document(shop, "recall", "cents")["context"]["identity"] == "A web shop: Flask"
    assert memory(shop, "identity", "--clear").status == 0
    assert memory(shop, "identity").status == 1


def test_facts_hold_from_one_time_to_another(shop: Path) -> None:
    for target in ("stripe", "paypal"):
        done = document(shop, "kg", "assert", "checkout", "uses", target, "--confidence", "0.5")
        assert (done["status"], done["confidence"]) == ("asserted", 0.5)
    for target in ("redis", "postgres"):
        document(shop, "kg", "assert", "api", "depends_on", target, "--multi")
    [now] = document(shop, "kg", "query", "checkout")["triples"]
    assert (now["object"], now["valid_to"]) == ("paypal", None)
    first, _ = document(shop, "kg", "history", "checkout")["triples"]
    assert (first["object"], first["valid_to"]) == ("stripe", now["valid_from"])
    assert document(shop, "kg", "retract", "api", "depends_on", "redis")["retracted"] == 1
    [line] = lines(shop, "kg", "query", "api")
    assert line.startswith("api  depends_on  postgres  (since ")
    assert len(lines(shop, "kg", "history", "api")) == 2
    assert memory(shop, "kg", "retract", "api", "depends_on", "redis").status == 1
    before = memory(shop, "kg", "query", "checkout", "--as-of", "2020-01-01")
    assert (before.status, before.out) == (1, b"No facts of 'checkout'.\n")


def test_stats_count_what_is_kept(shop: Path) -> None:
    first = document(shop, "remember", "a", "--room", "Backend")["drawer_id"]
    for text in ("b", "c"):
        document(shop, "remember", text)
    document(shop, "forget", first)
    document(shop, "kg", "assert", "a", "b", "c")
    [counts] = document(shop, "stats")["palaces"]
    assert (counts["drawers"], counts["forgotten"], counts["facts"]) == (2, 1, 1)
    assert (counts["rooms"], counts["root"]) == ({"General": 2}, str(shop))
    assert document(shop, "stats")["bytes"] > 10_000
    assert lines(shop, "stats")[0] == "shop: 2 drawers, 1 fact, 1 forgotten"
    assert lines(shop, "stats", "--palace", "shop")[:3] == lines(shop, "stats")[:3]


def test_an_export_is_imported_elsewhere(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document(shop, "remember", "Prices are in cents")
    name = document(shop, "remember", "Nobody is to see this")["drawer_id"]
    document(shop, "forget", name)
    target = shop / "out.jsonl"
    assert lines(shop, "export", str(target)) == []
    assert target.stat().st_mode & 0o777 == 0o600
    assert "Nobody" not in target.read_text()
    assert memory(shop, "export").out == target.read_bytes()
    assert memory(shop, "export", "--all").out == target.read_bytes()
    assert b"Nobody" in memory(shop, "export", "--forgotten").out
    monkeypatch.setenv("TRISEEK_HOME", str(shop / "elsewhere"))
    planned = document(shop, "import", str(target), "--dry-run")
    assert (planned["drawers"], planned["palaces"]) == (1, ["shop"])
    assert not (shop / "elsewhere").exists()
    assert lines(shop, "import", str(target)) == ["export: 1 drawer and 0 facts imported into shop"]
    assert lines(shop, "import", str(target))[1] == "  1 were there already"
    assert memory(shop, "export").out == target.read_bytes()


def test_nothing_is_made_by_a_command_that_reads(shop: Path, home: Path) -> None:
    for words in (
        ["list"], ["recall", "x"], ["palaces"], ["identity"], ["stats"], ["kg", "query", "x"],
        ["kg", "history", "x"], ["list", "--forgotten"], ["export"],
    ):  # fmt: skip
        done = memory(shop, *words)
        assert b"triseek memory remember" in done.out or "memory remember" in done.err, words
        assert done.status == (0 if words == ["stats"] else 1), words
    assert not (home / "memory").exists()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["remember"], "missing argument"),
        (["remember", " "], "empty"),
        (["remember", "x" * 100_001], "100,000"),
        (["remember", "x", "--importance", "high"], "--importance"),
        (["remember", "x", "--importance", "nan"], "--importance"),
        (["remember", "x", "--room", "a\x1b[2J"], "control"),
        (["remember", "x", "--palace", "../x"], "not a palace"),
        (["remember", "x", "--palace", "none"], "palaces --create"),
        (["recall", "x", "--since", "soon"], "30d"),
        (["recall", "x", "--limit", "0"], "--limit"),
        (["recall", "x", "--palace", "none"], "palaces --create"),
        (["show", "zz"], "not the id"),
        (["show", "ffffffff"], "no drawer"),
        (["show", "../../etc"], "not the id"),
        (["update", "ffffffff", "x"], "no drawer"),
        (["forget"], "missing argument"),
        (["forget", "fff"], "not the id"),
        (["palaces", "--create", "../x"], "not a palace"),
        (["palaces", "--create", "a", "--use", "b"], "do not go together"),
        (["palaces", "--use", "none"], "no palace"),
        (["identity", "x" * 4_001], "4,000"),
        (["identity", "x", "--clear"], "not both"),
        (["kg", "assert", "a", "b", ""], "object is empty"),
        (["kg", "assert", "a", "b", "c", "--confidence", "2"], "--confidence"),
        (["kg", "query", "a", "--as-of", "then"], "invalid date"),
        (["export", "--palace", "a", "--all"], "do not go together"),
        (["export", "--palace", "none"], "no palace"),
        (["export", "/dev/null"], "no file"),
        (["export", "/nowhere/x.jsonl"], "No such file"),
        (["import", "/nowhere"], "No such file"),
        (["import", "/dev/zero"], "not a regular file"),
        (["import", "."], "no palace of trusty-memory"),
        (["stats", "--palace", "none"], "no palace"),
    ],
)
def test_bad_input_is_one_line_with_a_next_step(words: list[str], reason: str, shop: Path) -> None:
    document(shop, "remember", "Prices are in cents")
    done = memory(shop, *words)
    assert (done.status, done.err.count("\n")) == (2, 1), done
    assert reason.lower() in done.err.lower()
    assert len(document(shop, "palaces")["palaces"]) == 1


def test_no_palace_is_made_for_what_is_refused(shop: Path) -> None:
    for words in (["remember", " "], ["kg", "assert", "a", "", "c"], ["import", "."]):
        assert memory(shop, *words).status == 2
    assert memory(shop, "palaces").status == 1


def test_hostile_texts_cannot_drive_the_terminal(shop: Path) -> None:
    document(shop, "remember", "a\x1b]0;pwned\x07\u202eb\x00c")
    for words in (["list"], ["recall", "b"], ["recall", "b", "--json"], ["export"]):
        out = memory(shop, *words).out
        assert not {0x1B, 0x07, 0x00} & set(out), words
    for words in (["list"], ["recall", "pwned"]):
        assert "\u202e" not in memory(shop, *words).out.decode()


def test_a_beginning_that_several_drawers_have_is_refused(shop: Path) -> None:
    opened = Memory()
    opened.create("shop")
    with opened.database.write() as connection:
        connection.executemany(
            "INSERT INTO drawers (uuid, palace_id, room, room_key, text, created_at_epoch,"
            " updated_at_epoch) VALUES (?, 1, 'General', 'general', 'x', 0, 0)",
            [(f"0f9c2d1a-0000-4000-8000-{number:012}",) for number in range(2)],
        )
    opened.use("shop", str(shop))
    opened.close()
    done = memory(shop, "forget", "0f9c2d1a")
    assert (done.status, "several drawers" in done.err) == (2, True)
    assert memory(shop, "forget", "0F9C2D1A-0000-4000-8000-000000000001").status == 0


def test_a_working_tree_has_the_palace_of_its_repository(tmp_path: Path) -> None:
    main, tree = tmp_path / "shop", tmp_path / "tree"
    for words in (
        ["init", "-q", str(main)],
        ["-C", str(main), "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q",
         "--allow-empty", "-m", "x"],
        ["-C", str(main), "worktree", "add", "-q", str(tree)],
    ):  # fmt: skip
        subprocess.run(["git", *words], check=True, capture_output=True)
    assert document(tree, "remember", "a")["palace"] == "shop"
    assert texts(document(main, "list")["drawers"]) == ["a"]


def test_without_a_word_there_is_help_with_examples(shop: Path) -> None:
    done = memory(shop)
    assert (done.status, "Examples: triseek memory remember" in done.err) == (2, True)


def test_older_drawers_are_embedded(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document(shop, "remember", "Prices are in cents")
    off = memory(shop, "embed")
    assert (off.status, "memory.embedder" in off.err) == (2, True)
    monkeypatch.setenv("TRISEEK_MEMORY_EMBEDDER", "hashing")
    done = document(shop, "embed")
    assert (done["embedded"], done["left"]) == (1, 0)
    assert done["embedder"].startswith("hashing")
    assert lines(shop, "embed") == ["0 drawers embedded"]
    [counts] = document(shop, "stats")["palaces"]
    assert counts["embedded"] == 1
    assert "vectors" in document(shop, "recall", "cents")["lane"]
