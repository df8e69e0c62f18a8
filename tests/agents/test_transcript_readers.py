"""Readers of files to which agents append: any beginning, any row, any mark."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.agents.transcript_reads import (
    FIXTURES,
    check,
    place,
    read,
    reader_of,
    recorded,
    variants,
)
from triseek.agents import row_reading
from triseek.model.conversation import Mark

ENVIRON = {
    "claude-code": {"CLAUDE_CONFIG_DIR": str(FIXTURES / "claude-code")},
    "codex": {"CODEX_HOME": str(FIXTURES / "codex")},
    "gemini": {},
    "qwen": {"QWEN_HOME": str(FIXTURES / "qwen")},
}
COPIED = "copied"


@pytest.fixture(scope="module")
def gemini_home(tmp_path_factory) -> Path:
    """Gemini CLI's folder cannot be named by a variable, only the folder that it is in."""
    home = tmp_path_factory.mktemp("home")
    shutil.copytree(FIXTURES / "gemini", home / ".gemini")
    return home


def sources(name: str, gemini_home: Path) -> list[str]:
    environ = {"GEMINI_CLI_HOME": str(gemini_home)} if name == "gemini" else ENVIRON[name]
    return recorded(name, environ)


@pytest.mark.parametrize("name", ENVIRON)
def test_its_fixtures_are_of_the_version_that_it_names(name):
    version = (FIXTURES / name / "VERSION").read_text().strip()
    assert reader_of(name).evidence.startswith(version)


@pytest.mark.parametrize("name", ENVIRON)
def test_a_file_that_is_read_in_two_parts_says_the_same(name, gemini_home, tmp_path):
    for source in sources(name, gemini_home):
        data = Path(source).read_bytes()
        whole = read(name, source)
        path = copied(source, tmp_path)
        ends = [at + 1 for at, byte in enumerate(data) if byte == 10]
        middles = [(begin + end) // 2 for begin, end in zip([0, *ends], ends, strict=False)]
        for cut in [0, *ends, *middles[::4]]:
            path.write_bytes(data[:cut])
            parts = read(name, path)
            path.write_bytes(data)
            parts.add(reader_of(name).read(str(path), parts.marks[-1]))
            assert parts.records() == whole.records(), cut


@pytest.mark.parametrize("name", ENVIRON)
def test_a_read_goes_on_from_any_mark(name, gemini_home, tmp_path, monkeypatch):
    monkeypatch.setattr(row_reading, "MARK_BYTES", 1)
    for source in sources(name, gemini_home):
        path = copied(source, tmp_path)
        records = [*reader_of(name).read(str(path), Mark())]
        whole = read(name, path)
        marks = [at for at, one in enumerate(records) if isinstance(one, Mark)]
        assert len(marks) > 5
        for at in marks:
            stored = json.loads(json.dumps(vars_of(records[at])))
            parts = read(name, path, Mark(**stored))
            before = type(parts)().add(records[:at])
            before.add([*parts.conversations.values(), *parts.messages.values()])
            before.add([*parts.events.values(), *parts.unreadable])
            assert before.records() == whole.records(), records[at]


@pytest.mark.parametrize("name", ENVIRON)
def test_no_value_in_a_row_stops_it(name, gemini_home, tmp_path):
    kinds = {}
    for source in sources(name, gemini_home):
        for line in Path(source).read_text().splitlines():
            row = json.loads(line)
            kinds[shape(row)] = row
    path = copied(source, tmp_path)
    rows = [other for row in kinds.values() for other in variants(row)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    records = [*reader_of(name).read(str(path), Mark())]

    for record in records:
        check(record)
    assert len(rows) > 2000
    assert len(records) > 100


@pytest.mark.parametrize("name", ENVIRON)
def test_a_line_that_is_no_row_is_named_and_skipped(name, gemini_home, tmp_path):
    [source, *_] = sources(name, gemini_home)
    lines = Path(source).read_bytes().splitlines(keepends=True)
    path = copied(source, tmp_path)
    bad = [b"[" * 100_000, b"\0\0", b'{"a":', b"7", b'"\xff\xfe"', b"\xff", b"{}"]
    path.write_bytes(b"".join([*lines[:-1], b"\n".join(bad), b"\n", lines[-1]]))

    found = read(name, path)

    assert [one.reason for one in found.unreadable] == [
        "JSON nested too deeply", "not valid JSON", "not a JSON object", "not a JSON object",
        "not valid JSON",
    ]  # fmt: skip
    whole = read(name, source)
    assert found.records()[:3] == whole.records()[:3]


@pytest.mark.parametrize("name", ENVIRON)
def test_only_its_regular_files_are_sources(name, gemini_home, tmp_path):
    folder = ".gemini" if name == "gemini" else f".{name.removesuffix('-code')}"
    shutil.copytree(FIXTURES / name, tmp_path / folder)
    [first, *_] = before = [*reader_of(name).sources(place(tmp_path))]
    assert len(before) == len(sources(name, gemini_home))
    beside = Path(first).parent
    (beside / "link.jsonl").symlink_to(first)
    os.mkfifo(beside / "pipe.jsonl")
    (beside / "folder.jsonl").mkdir()
    (beside / "note.txt").write_text("{}")
    (tmp_path / folder / "around").symlink_to(tmp_path)

    assert [*reader_of(name).sources(place(tmp_path))] == before
    assert [*reader_of(name).sources(place(tmp_path / "none"))] == []
    with pytest.raises(OSError, match="link"):
        read(name, beside / "link.jsonl")


@pytest.mark.parametrize("name", ENVIRON)
def test_a_mark_holds_nothing_that_was_said(name, gemini_home):
    for source in sources(name, gemini_home):
        for mark in read(name, source).marks:
            assert "Do as told" not in json.dumps(mark.state)
            assert "done" not in json.dumps(mark.state)


def copied(source: str, folder: Path) -> Path:
    """A copy that a test may change, beside what is read together with it."""
    target = folder / COPIED
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(Path(source).parent, target / "tree/chats")
    root = Path(source).parent.parent / ".project_root"
    if root.exists():
        shutil.copy(root, target / "tree/.project_root")
    return target / "tree/chats" / Path(source).name


def vars_of(mark: Mark) -> dict[str, object]:
    return {"offset": mark.offset, "state": mark.state}


def shape(value: object, depth: int = 3) -> str:
    """What kind of row it is."""
    if isinstance(value, dict):
        inner = {name: shape(one, depth - 1) for name, one in value.items() if depth}
        return json.dumps({**inner, "type": str(value.get("type"))}, sort_keys=True)
    if isinstance(value, list):
        return shape(value[0], depth) if value else "[]"
    return type(value).__name__
