"""Palaces and the graph through the tools, and which palace is a project's."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from tests.memory.handlers.conftest import Tools

if TYPE_CHECKING:
    from pathlib import Path

    from triseek.memory.service import Memory


def test_a_palace_is_created_once_and_keeps_what_it_has(tools: Tools) -> None:
    first = tools.ask("palace_create", name="client-acme", description="For Acme")
    tools.remember("Acme pays late.", palace="client-acme")
    second = tools.ask("palace_create", name="client-acme")

    assert first == {"palace_id": "client-acme", "status": "created"}
    assert second == {"palace_id": "client-acme", "status": "exists"}
    assert "keeps what it has" in tools.text("palace_create", name="client-acme")
    assert tools.recalled("Acme", palace="client-acme") == ["Acme pays late."]
    assert tools.ask("palace_list") == {"palaces": ["client-acme"]}
    assert "not a palace's name" in tools.error("palace_create", name="a/b")
    assert "name" in tools.error("palace_create")


def test_a_palace_says_how_much_it_holds_and_where(tools: Tools, memory: Memory) -> None:
    tools.ask("palace_create", name="acme", description="For Acme")
    tools.remember("x", palace="acme")
    tools.ask("kg_assert", palace="acme", subject="a", predicate="b", object="c")

    assert tools.ask("palace_info", palace="acme") == {
        "id": "acme", "name": "acme", "drawer_count": 1, "data_dir": memory.folder,
        "triple_count": 1, "description": "For Acme",
    }  # fmt: skip
    assert "1 drawer(s), 1 fact(s)" in tools.text("palace_info", palace="acme")
    assert "there is no palace 'none'" in tools.error("palace_info", palace="none")


def test_a_fact_replaces_the_one_before_and_history_keeps_it(tools: Tools) -> None:
    fact = {"subject": "auth", "predicate": "version"}
    asserted = tools.ask("kg_assert", **fact, object="2.4.1", confidence=0.95, provenance="log")
    [first] = tools.ask("kg_query", subject="auth")["triples"]
    tools.ask("kg_assert", **fact, object="2.5")

    now = tools.ask("kg_query", subject="auth")
    whole = tools.ask("kg_query", subject="auth", include_history=True)["triples"]
    then = tools.ask("kg_query", subject="auth", as_of=first["valid_from"])["triples"]
    before = tools.ask("kg_query", subject="auth", as_of="2001-01-01")["triples"]

    assert asserted == {"status": "asserted"}
    assert list(first) == [
        "subject", "predicate", "object", "valid_from", "valid_to", "confidence", "provenance"
    ]  # fmt: skip
    assert (first["valid_to"], first["confidence"], first["provenance"]) == (None, 0.95, "log")
    assert [triple["object"] for triple in now["triples"]] == ["2.5"]
    assert [triple["object"] for triple in whole] == ["2.4.1", "2.5"]
    assert whole[0]["valid_to"] == whole[1]["valid_from"]
    assert [triple["object"] for triple in then] in (["2.4.1"], ["2.5"])  # one millisecond
    assert before == []
    text = tools.text("kg_query", subject="auth", include_history=True)
    assert "auth | version | 2.4.1 (since " in text
    assert "until" in text
    assert "from log" in text


def test_a_predicate_may_have_several_objects(tools: Tools) -> None:
    for name in ("bob", "carol"):
        tools.ask("kg_assert", subject="alice", predicate="knows", object=name, multi=True)
    both = tools.ask("kg_query", subject="alice")["triples"]
    some = tools.ask("kg_retract", subject="alice", predicate="knows", object="bob")
    left = tools.ask("kg_query", subject="alice")["triples"]
    rest = tools.ask("kg_retract", subject="alice", predicate="knows")
    none = tools.ask("kg_retract", subject="alice", predicate="knows")

    assert [triple["object"] for triple in both] == ["bob", "carol"]
    assert [triple["object"] for triple in left] == ["carol"]
    assert some == rest == {"status": "retracted", "retracted": 1}
    assert none == {"status": "not_found", "retracted": 0}
    assert len(tools.ask("kg_query", subject="alice", include_history=True)["triples"]) == 2


def test_facts_that_are_none_are_refused(tools: Tools, memory: Memory) -> None:
    fact = {"subject": "a", "predicate": "b", "object": "c"}

    assert "confidence: 95 is not from 0 to 1" in tools.error("kg_assert", **fact, confidence=95)
    assert "the subject is empty" in tools.error("kg_assert", **{**fact, "subject": " "})
    assert "the object has 1,001" in tools.error("kg_assert", **{**fact, "object": "x" * 1001})
    assert "predicate" in tools.error("kg_assert", subject="a", object="c")
    assert "exclude each other" in tools.error(
        "kg_query", subject="a", as_of="2025-01-01", include_history=True
    )
    assert "as_of: invalid timestamp" in tools.error("kg_query", subject="a", as_of="then")
    assert not memory.exists()


def test_working_trees_share_the_palace_of_their_repository(memory: Memory, tmp_path: Path) -> None:
    main, tree = tmp_path / "main", tmp_path / "tree"

    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-C", main, "-c", "user.name=t", "-c", "user.email=t@t", *words],
            check=True, capture_output=True,
        )  # fmt: skip

    main.mkdir()
    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "x")
    git("worktree", "add", "-q", str(tree))
    (tree / "deep").mkdir()
    Tools(memory, tree / "deep").remember("known in the tree")

    assert Tools(memory, main).recalled("known") == ["known in the tree"]
    assert memory.palaces() == ["main"]


def test_repositories_of_one_name_have_palaces_of_their_own(memory: Memory, tmp_path: Path) -> None:
    first, second = tmp_path / "a" / "shop", tmp_path / "b" / "shop"
    for root in (first, second):
        (root / ".git").mkdir(parents=True)
        Tools(memory, root).remember(f"known in {root.parent.name}")

    assert Tools(memory, first).recalled("known") == ["known in a"]
    assert Tools(memory, second).recalled("known") == ["known in b"]
    assert memory.palaces() == ["shop", "shop-2"]


def test_a_folder_in_no_repository_has_its_own_palace(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    Tools(memory, tmp_path / "notes").remember("here")

    assert Tools(memory, tmp_path).ask("memory_list")["palace"] == ""
    assert Tools(memory, tmp_path / "notes").ask("memory_list")["palace"] == "notes"
