from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from triseek.memory.drawers import Draft
from triseek.memory.service import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KEY = "AKIA" + "IOSFODNN7" + "EXAMPLE"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    memory = Memory(str(tmp_path / "memory"))
    memory.create("shop")
    yield memory
    memory.close()


@pytest.fixture
def root(tmp_path: Path, memory: Memory) -> Path:
    """The folder of the palace `repo`."""
    root = tmp_path / "repo"
    (root / "src").mkdir(parents=True)
    assert memory.palace_of(str(root), creates=True) == "repo"
    return root


def findings(memory: Memory, palace: str = "shop") -> list[tuple[str, str, str]]:
    listed = memory.audit(palace).findings.listed
    return sorted((finding.kind, finding.where, finding.what) for finding in listed)


def test_a_palace_without_faults_has_no_findings(memory: Memory) -> None:
    memory.remember("shop", Draft(text="Deploys are on Tuesdays", room="Backend"))
    memory.assert_fact("shop", ("api", "depends_on", "redis"))
    audit = memory.audit("shop")
    assert (audit.drawers, audit.triples, audit.findings.listed) == (1, 1, [])


def test_what_is_said_twice_is_reported(memory: Memory) -> None:
    first = memory.remember("shop", Draft(text="Deploys are on Tuesdays", room="Backend"))
    second = memory.remember("shop", Draft(text="deploys are on Tuesdays.", room="Backend"))
    third = memory.remember("shop", Draft(text="Deploys are on Tuesdays", room="Planning"))
    assert {(kind, where) for kind, where, _ in findings(memory)} == {
        ("duplicate", first.uuid), ("duplicate", third.uuid),
    }  # fmt: skip
    memory.dream()
    assert findings(memory) == [
        ("duplicate", third.uuid,
         f"room Planning: drawer {second.uuid} in room Backend says the same"),
    ]  # fmt: skip


def test_loops_of_facts_are_reported(memory: Memory) -> None:
    for subject, target in (("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "d")):
        memory.assert_fact("shop", (subject, "depends_on", target), multi=True)
    memory.assert_fact("shop", ("x", "Related To", "y"))
    memory.assert_fact("shop", ("y", "related-to", "x"))
    memory.assert_fact("shop", ("a", "part_of", "b"))
    memory.assert_fact("shop", ("b", "owned_by", "a"))
    assert findings(memory) == [
        ("loop", "a depends_on", "depends_on leads back: a → b → c → a"),
        ("loop", "d depends_on", "depends_on leads back: d → d"),
    ]
    steps = {finding.next_step for finding in memory.audit("shop").findings.listed}
    assert "triseek memory kg retract c depends_on a" in steps
    memory.retract("shop", ("c", "depends_on", "a"))
    memory.retract("shop", ("d", "depends_on", "d"))
    assert findings(memory) == []


def test_a_long_chain_is_no_loop_and_a_long_loop_is(memory: Memory) -> None:
    with memory.database.write() as connection:
        connection.executemany(
            "INSERT INTO triples (palace_id, subject, predicate, object, valid_from)"
            " VALUES (1, ?, 'after', ?, 1)",
            [(f"n{number}", f"n{number + 1}") for number in range(5_000)],
        )
    assert findings(memory) == []
    memory.assert_fact("shop", ("n5000", "after", "n0"))
    [loop] = findings(memory)
    assert loop[0] == "loop"


def test_drawers_that_nothing_shows_are_reported(memory: Memory) -> None:
    drawers = [memory.remember("shop", Draft(text=f"text {number}")) for number in range(4)]
    with memory.database.write() as connection:
        for loser, by in ((0, 1), (1, 0), (2, 3)):
            connection.execute(
                "UPDATE drawers SET superseded_by = ? WHERE id = ?",
                (drawers[by].id, drawers[loser].id),
            )
        connection.execute("UPDATE drawers SET deleted_at_epoch = 1 WHERE id = ?", (drawers[3].id,))
    kinds = [(kind, where) for kind, where, _ in findings(memory)]
    assert ("hidden", drawers[2].uuid) in kinds
    assert [kind for kind, _ in kinds].count("loop") == 1
    memory.update("shop", drawers[0].uuid, "text 0")
    memory.update("shop", drawers[2].uuid, "text 2")
    assert findings(memory) == []


def test_secrets_are_reported_and_removed(memory: Memory) -> None:
    drawer = memory.remember("shop", Draft(text="the key is KEY", source="notes"))
    memory.update("shop", drawer.uuid, "the key was KEY")
    memory.assert_fact("shop", ("bucket", "opens_with", "KEY"), provenance="KEY")
    memory.set_identity("shop", "We use KEY.")
    with memory.database.write() as connection:
        for table, column in (
            ("drawers", "text"), ("drawer_changes", "text"), ("triples", "object"),
            ("triples", "provenance"), ("palaces", "identity"),
        ):  # fmt: skip
            connection.execute(f"UPDATE {table} SET {column} = replace({column}, 'KEY', ?)", (KEY,))
    audit = memory.audit("shop")
    assert audit.findings.counts == {"secret": 5}
    assert KEY not in repr(audit)
    assert memory.remove_secrets("shop") == (5, True)
    assert findings(memory) == []
    assert "the key was" in memory.drawer("shop", drawer.uuid).text
    memory.close()
    for path in memory.database.path.parent.iterdir():
        assert KEY.encode() not in path.read_bytes()


def test_no_file_of_the_index_has_a_removed_secret(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    from triseek.kernels import cache, recall

    assert recall.refine
    monkeypatch.setattr(cache, "is_ready", lambda: True)
    memory.remember("shop", Draft(text="the heron"))
    drawer = memory.remember("shop", Draft(text="the key is KEY"))
    with memory.database.write() as connection:
        connection.execute("UPDATE drawers SET text = replace(text, 'KEY', ?)", (KEY,))
    memory.prepare()
    assert files_with(memory, KEY.lower())
    assert memory.remove_secrets("shop") == (1, True)
    assert not files_with(memory, KEY.lower())
    assert [hit.drawer.uuid for hit in memory.recall("shop", "key").hits] == [drawer.uuid]


def files_with(memory: Memory, word: str) -> list[str]:
    """The files of the memory that hold a word in any case of its letters."""
    files = [path for path in memory.database.path.parent.rglob("*") if path.is_file()]
    return [path.name for path in files if word.encode() in path.read_bytes().lower()]


def test_contradictions_are_listed(memory: Memory) -> None:
    memory.assert_fact("shop", ("api", "port", "8080"))
    memory.assert_fact("shop", ("api", "port", "9090"), multi=True)
    for target in ("redis", "kafka"):
        memory.assert_fact("shop", ("api", "uses", target), multi=True)
    first, second = memory.contradictions("shop")
    assert (first.subject, first.predicate, first.is_multi) == ("api", "port", False)
    assert [triple.object for triple in first.triples] == ["8080", "9090"]
    assert (second.predicate, second.is_multi) == ("uses", True)
    [finding] = memory.audit("shop").findings.listed
    assert (finding.kind, finding.where) == ("contradiction", "api port")
    assert finding.next_step == "triseek memory kg retract api port 8080"


def test_facts_of_folders_of_one_project_are_compared(memory: Memory, root: Path) -> None:
    memory.palace_of(str(root / "src"), creates=True)
    memory.palace_of(str(root) + "-other", creates=True)
    for palace, value in (("repo", "3.11"), ("src", "3.12"), ("repo-other", "3.13")):
        memory.assert_fact(palace, ("python", "version", value))
    [(kind, where, what)] = findings(memory, "repo")
    assert (kind, where) == ("contradiction", "python version")
    assert "3.11 here, 3.12 in palace src" in what


def test_rooms_that_may_be_one_are_reported(memory: Memory) -> None:
    for number, room in enumerate(("API tests", "api-test", "Api Tests", "Bus", "Class", "Boxes")):
        memory.remember("shop", Draft(text=f"text {number}", room=room))
    memory.remember("shop", Draft(text="more", room="box"))
    reported = [(finding.kind, finding.what) for finding in memory.audit("shop").findings.listed]
    assert reported == [
        ("room", "the rooms API tests (2), api-test (1) may be one"),
        ("room", "the rooms box (1), Boxes (1) may be one"),
    ]


def test_paths_that_are_gone_moved_or_changed_are_reported(memory: Memory, root: Path) -> None:
    for name in ("kept.py", "edited.py", "moved.py"):
        (root / "src" / name).write_text("x = 1\n")
        os.utime(root / "src" / name, (1_000, 1_000))
    drawer = memory.remember(
        "repo",
        Draft(
            text="See src/kept.py, src/edited.py:7 and src/moved.py, never `src/old.py`; and/or "
            "client/server, https://example.org/a/b.py, lib/other/gone.py."
        ),
    )
    memory.assert_fact("repo", ("retry", "defined_in", "x"), provenance="src/edited.py:12-14")
    memory.assert_fact("repo", ("wait", "defined_in", "y"), provenance="nowhere.py")
    memory.assert_fact("repo", ("talk", "was", "long"), provenance="a talk with Ann")
    (root / "lib").mkdir()
    (root / "src" / "moved.py").rename(root / "lib" / "moved.py")
    later = time.time() + 60
    os.utime(root / "src" / "edited.py", (later, later))
    assert findings(memory, "repo") == sorted([
        ("changed", drawer.uuid, "src/edited.py has been changed since"),
        ("gone", drawer.uuid, "lib/other/gone.py does not exist any more"),
        ("gone", drawer.uuid, "src/old.py does not exist any more"),
        ("moved", drawer.uuid, "src/moved.py is now lib/moved.py"),
        ("changed", "retry defined_in x", "src/edited.py has been changed since"),
        ("gone", "wait defined_in y", "nowhere.py does not exist any more"),
    ])  # fmt: skip


def test_a_digest_decides_and_not_the_time(memory: Memory, root: Path) -> None:
    import hashlib

    path = root / "src" / "a.py"
    path.write_bytes(b"x = 1\n")
    blob = hashlib.sha1(b"blob 6\0x = 1\n").hexdigest()
    sha = hashlib.sha256(b"x = 1\n").hexdigest()
    memory.remember("repo", Draft(text="first", source=f"src/a.py@{sha[:12]}"))
    memory.remember("repo", Draft(text="second", source=f"src/a.py@{blob}"))
    later = time.time() + 60
    os.utime(path, (later, later))
    assert findings(memory, "repo") == []
    path.write_bytes(b"x = 2\n")
    os.utime(path, (1_000, 1_000))
    assert [kind for kind, _, _ in findings(memory, "repo")] == ["changed", "changed"]


def test_nothing_outside_of_the_root_is_looked_at(
    memory: Memory, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    (root / "src" / "link").symlink_to(tmp_path)
    (root / "src" / "loop.py").symlink_to("loop.py")
    os.mkfifo(root / "src" / "pipe.py")
    digest = "0123456789abcdef"
    for path in (
        "/etc/passwd", "../secret.txt", "src/../../secret.txt", "src/link/secret.txt", "/dev/zero",
        "src/pipe.py", "src/loop.py", "/proc/self/mem", f"{'a/' * 2_000}b.py", "src/\udcff.py",
        str(tmp_path / "secret.txt"), "src/" + "x" * 3_000 + ".py",
    ):  # fmt: skip
        memory.remember("repo", Draft(text=f"look at {path} there"))
        if len(path) < 900 and path.isprintable():
            memory.remember("repo", Draft(text=f"from {path}", source=f"{path}@{digest}"))
            memory.assert_fact("repo", (path, "is", "there"), provenance=f"{path}@{digest}")
    opened: list[str] = []
    real = os.open

    def recorded(path, flags, *rest, **more):
        descriptor = real(path, flags, *rest, **more)
        if not flags & os.O_DIRECTORY:
            opened.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        return descriptor

    monkeypatch.setattr(os, "open", recorded)
    began = time.monotonic()
    reported = findings(memory, "repo")
    assert time.monotonic() - began < 5
    assert [path for path in opened if not path.startswith(str(tmp_path / "memory"))] == []
    assert {kind for kind, _, _ in reported} <= {"gone"}
    assert "passwd" not in repr(reported)
    assert "secret.txt" not in repr(reported)


def test_a_root_that_is_gone_is_one_finding(memory: Memory, root: Path) -> None:
    memory.remember("repo", Draft(text="see src/a.py and src/b.py"))
    root.rename(root.with_name("renamed"))
    [(kind, where, what)] = findings(memory, "repo")
    assert (kind, where) == ("root", "repo")
    assert "does not exist" in what
    root.symlink_to("/dev")
    assert {kind for kind, _, _ in findings(memory, "repo")} <= {"gone"}


def test_many_findings_are_counted(memory: Memory, root: Path) -> None:
    for number in range(150):
        memory.remember("repo", Draft(text=f"see src/gone{number}.py"))
    found = memory.audit("repo").findings
    assert found.counts == {"gone": 150}
    assert len(found.listed) == 100


def test_an_audit_writes_nothing(memory: Memory, root: Path) -> None:
    memory.remember("repo", Draft(text="see src/a.py"))
    memory.remember("repo", Draft(text="see src/a.py"))
    writer = memory.database._writer
    before = writer.total_changes
    with memory.database.read() as connection:
        [version] = connection.execute("PRAGMA data_version").fetchone()
    memory.audit("repo")
    with memory.database.read() as connection:
        assert connection.execute("PRAGMA data_version").fetchone() == (version,)
    assert writer.total_changes == before
