"""The file an agent reads is found, and our block comes into it without harm to the rest."""

from __future__ import annotations

import json
import os
import random
import stat
from typing import TYPE_CHECKING

import pytest

from tests.conftest import plant
from triseek.agents.install import managed_block
from triseek.agents.project_files import CODEX_READS, SIZE_MAX, put, reader
from triseek.agents.registry import receiver, receivers
from triseek.errors import ConfigWriteFailed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    found = tmp_path.resolve() / "repo"
    found.mkdir()
    return found


def write(root: Path, name: str, block: str = "payload") -> bool:
    return put(str(root / name), str(root), block).changed


@pytest.mark.parametrize(
    ("agent", "there", "expected"),
    [
        ("claude_code", {}, "CLAUDE.md"),
        ("claude_code", {"AGENTS.md": ""}, "CLAUDE.md"),
        ("codex", {}, "AGENTS.md"),
        ("codex", {"AGENTS.override.md": "x", "AGENTS.md": "x"}, "AGENTS.override.md"),
        ("opencode", {}, "AGENTS.md"),
        ("opencode", {"CLAUDE.md": "x"}, "CLAUDE.md"),
        ("opencode", {"CLAUDE.md": "x", "AGENTS.md": "x"}, "AGENTS.md"),
        ("pi", {}, "AGENTS.md"),
        ("pi", {"CLAUDE.md": "x"}, "CLAUDE.md"),
        ("pi", {"AGENTS.override.md": "x", "CLAUDE.md": "x"}, "AGENTS.override.md"),
        ("cursor", {"CLAUDE.md": "x"}, "AGENTS.md"),
        ("cline", {}, ".clinerules/triseek.md"),
        ("cline", {".clinerules": "rules"}, ".clinerules"),
        ("cline", {".clinerules/a.md": "rules"}, ".clinerules/triseek.md"),
        ("gemini", {}, "GEMINI.md"),
        (
            "gemini",
            {".gemini/settings.json": '{"context": {"fileName": ["CONTEXT.md", "GEMINI.md"]}}'},
            "CONTEXT.md",
        ),
        (
            "gemini",
            {".gemini/settings.json": '{"context": {"fileName": "../../.bashrc"}}'},
            "GEMINI.md",
        ),
        ("gemini", {".gemini/settings.json": "not JSON"}, "GEMINI.md"),
    ],
)
def test_an_agents_file_is_the_one_it_reads(
    root: Path, agent: str, there: dict[str | bytes, bytes | str], expected: str
) -> None:
    plant(root, there)

    assert receiver(agent).project_file(str(root)) == expected


def test_a_persons_own_setting_for_gemini_counts(root: Path, home: Path) -> None:
    plant(home, {".gemini/settings.json": '{"context": {"fileName": "NOTES.md"}}'})

    assert receiver("gemini").project_file(str(root)) == "NOTES.md"


@pytest.mark.parametrize(
    ("there", "expected"),
    [
        ("CLAUDE.md", "CLAUDE.md"), ("AGENTS.md", "AGENTS.md"), ("none.md", "AGENTS.md"),
        ("../outside.md", "AGENTS.md"),
    ],
)  # fmt: skip
def test_a_file_that_codex_reads_by_its_configuration_is_not_hidden(
    root: Path, home: Path, there: str, expected: str
) -> None:
    named = 'project_doc_fallback_filenames = ["../outside.md", 1, "CLAUDE.md"]\n'
    plant(home, {".codex/config.toml": named})
    plant(root, {there: "x"})

    assert receiver("codex").project_file(str(root)) == expected
    (home / ".codex/config.toml").write_text("not TOML")
    assert receiver("codex").project_file(str(root)) == "AGENTS.md"


@pytest.mark.parametrize("agent", [agent.handoff_name for agent in receivers()])
def test_every_agent_has_a_file_that_can_be_written_twice(root: Path, agent: str) -> None:
    name = receiver(agent).project_file(str(root))

    assert write(root, name)
    assert b"payload" in (root / name).read_bytes()
    assert receiver(agent).project_file(str(root)) == name
    assert not write(root, name)
    assert write(root, name, "another")


@pytest.mark.parametrize(
    ("path", "agent"),
    [
        ("CLAUDE.md", "claude_code"), ("/x/CLAUDE.local.md", "claude_code"),
        ("AGENTS.md", "codex"), ("AGENTS.override.md", "codex"), ("GEMINI.md", "gemini"),
        (".clinerules", "cline"), ("a/.clinerules/triseek.md", "cline"), ("notes.md", ""),
        ("CLAUDE.txt", ""),
    ],
)  # fmt: skip
def test_whose_file_it_is_is_told_by_its_name(path: str, agent: str) -> None:
    assert reader(path) == agent


def test_bytes_outside_of_the_block_stay_and_the_second_time_changes_nothing(root: Path) -> None:
    """Appendix B 7, by the file alone; the mode stays too, and nothing else is left behind."""
    file = root / "AGENTS.md"
    before = b"\xef\xbb\xbf# Mine\r\n\r\n\xff raw\r\nlast line without an end"
    file.write_bytes(before)
    file.chmod(0o640)

    assert write(root, "AGENTS.md")
    first = file.read_bytes()
    assert first.startswith(before)
    assert managed_block.outside(first).startswith(before)
    inode = file.stat().st_ino

    assert not write(root, "AGENTS.md")
    assert file.read_bytes() == first
    assert file.stat().st_ino == inode
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert os.listdir(root) == ["AGENTS.md"]


def _random_file(chance: random.Random) -> bytes:
    pieces = [
        b"# Title",
        b"",
        b"\xff\xfe",
        "é ü".encode(),
        b"<!-- a -->",
        b"```",
        b"- [ ] x",
        b"\t",
    ]
    newline = chance.choice([b"\n", b"\r\n"])
    lines = [chance.choice(pieces) + bytes(chance.choices(range(14, 256), k=chance.randrange(9)))
             for _ in range(chance.randrange(40))]  # fmt: skip
    return newline.join(lines) + (newline if chance.random() < 0.5 else b"")


@pytest.mark.parametrize("seed", range(60))
def test_random_files_keep_what_is_theirs(root: Path, seed: int) -> None:
    chance = random.Random(seed)
    before = _random_file(chance)
    if before.startswith((b"\xff\xfe", b"\xfe\xff")):
        before = b"#" + before
    (root / "AGENTS.md").write_bytes(before)

    write(root, "AGENTS.md", "first\npayload")
    write(root, "AGENTS.md", "second")
    (root / "AGENTS.md").write_bytes(after := (root / "AGENTS.md").read_bytes() + b"tail\n")

    assert write(root, "AGENTS.md", "third")
    held = (root / "AGENTS.md").read_bytes()
    assert held.startswith(before)
    assert held.endswith(b"tail\n")
    assert managed_block.outside(held) == managed_block.outside(after)


def test_a_link_within_the_project_is_followed_and_stays(root: Path) -> None:
    plant(root, {"docs/agents.md": "# Mine\n"})
    (root / "AGENTS.md").symlink_to("docs/agents.md")

    assert write(root, "AGENTS.md")
    assert (root / "AGENTS.md").is_symlink()
    assert (root / "docs/agents.md").read_text().startswith("# Mine\n")
    assert "payload" in (root / "docs/agents.md").read_text()


def out(root: Path) -> None:
    (root.parent / "victim").write_text("mine")
    (root / "AGENTS.md").symlink_to("../victim")


def out_by_folder(root: Path) -> None:
    (root.parent / "elsewhere").mkdir()
    (root / "docs").symlink_to("../elsewhere")
    (root / "AGENTS.md").symlink_to("docs/AGENTS.md")


def into_git(root: Path) -> None:
    plant(root, {".git/config": "[core]\n"})
    (root / "AGENTS.md").symlink_to(".git/config")


def a_folder(root: Path) -> None:
    (root / "AGENTS.md").mkdir()


def a_device(root: Path) -> None:
    os.mkfifo(root / "AGENTS.md")


def a_circle(root: Path) -> None:
    (root / "AGENTS.md").symlink_to("AGENTS.md")


def huge(root: Path) -> None:
    with (root / "AGENTS.md").open("wb") as file:
        file.truncate(SIZE_MAX + 1)


def half_a_block(root: Path) -> None:
    (root / "AGENTS.md").write_bytes(managed_block.BEGIN)


def utf_16(root: Path) -> None:
    (root / "AGENTS.md").write_text("mine", "utf-16")


def read_only(root: Path) -> None:
    (root / "AGENTS.md").write_text("mine")
    (root / "AGENTS.md").chmod(0o444)


@pytest.mark.parametrize(
    ("hindered", "reason"),
    [
        (out, "leads out of the project"), (out_by_folder, "leads out of the project"),
        (into_git, "git's own"), (a_folder, "not a regular file"), (a_device, "not a regular file"),
        (a_circle, "circle"), (huge, "larger than 4 MiB"), (half_a_block, "not one whole block"),
        (utf_16, "UTF-16"), (read_only, "read-only"),
    ],
)  # fmt: skip
def test_what_cannot_be_written_is_left_alone(
    root: Path, hindered: Callable[[Path], None], reason: str
) -> None:
    hindered(root)
    before = _state(root.parent)

    with pytest.raises(ConfigWriteFailed, match=reason) as raised:
        write(root, "AGENTS.md")

    assert str(raised.value).startswith(str(root / "AGENTS.md"))
    assert raised.value.next_step
    assert _state(root.parent) == before


def _state(folder: Path) -> dict[str, object]:
    return {
        str(path): (path.lstat().st_mode, path.lstat().st_size, path.lstat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
    }


def test_a_file_in_a_folder_that_is_not_there_is_refused(root: Path) -> None:
    with pytest.raises(ConfigWriteFailed, match="is not there"):
        write(root, "dosc/AGENTS.md")
    assert os.listdir(root) == []


def test_a_file_elsewhere_is_the_persons_own_choice(root: Path, tmp_path: Path) -> None:
    assert put(str(tmp_path / "notes.md"), str(root), "payload").changed
    assert "payload" in (tmp_path / "notes.md").read_text()


def test_a_project_by_another_spelling_is_still_the_project(root: Path, tmp_path: Path) -> None:
    out(root)
    (tmp_path / "spelled").symlink_to(root)

    with pytest.raises(ConfigWriteFailed, match="leads out of the project"):
        put(str(tmp_path / "spelled/AGENTS.md"), str(root), "payload")


def test_a_claude_md_that_would_hide_an_agents_md_has_it_read(root: Path) -> None:
    plant(root, {"AGENTS.md": "rules\n"})

    assert write(root, "CLAUDE.md")
    assert "\n@AGENTS.md\n" in (root / "CLAUDE.md").read_text()
    assert not write(root, "CLAUDE.md")


@pytest.mark.parametrize("other", [".claude/CLAUDE.md", "CLAUDE.local.md", "CLAUDE.md"])
def test_where_claude_read_no_agents_md_before_it_reads_none_now(root: Path, other: str) -> None:
    plant(root, {"AGENTS.md": "rules\n", other: "mine\n"})

    write(root, "CLAUDE.md")
    assert "@AGENTS.md" not in (root / "CLAUDE.md").read_text()


def test_that_codex_reads_no_more_than_so_much_is_said(root: Path) -> None:
    plant(root, {"AGENTS.md": "x" * CODEX_READS})

    assert "project_doc_max_bytes" in put(str(root / "AGENTS.md"), str(root), "payload").caution
    assert put(str(root / "CLAUDE.md"), str(root), "payload").caution == ""


def test_settings_with_comments_are_read(root: Path) -> None:
    settings = '// mine\n{"context": {"fileName": "A.md",},}'
    with pytest.raises(ValueError, match="Expecting"):
        json.loads(settings)
    plant(root, {".gemini/settings.json": settings})

    assert receiver("gemini").project_file(str(root)) == "A.md"
