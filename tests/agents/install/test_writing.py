"""Files are edited through links, keep mode and owner, and all of them or none."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path

import pytest

from tests.agents import configs
from tests.agents.places import place, plant
from triseek.agents import registry
from triseek.agents.codex import Codex
from triseek.agents.install import ledger, writing
from triseek.agents.install.writing import FileChange
from triseek.errors import Busy, ConfigWriteFailed, StateUnwritable

CLAUDE = registry.by_name("claude-code")
TEXT = configs.pretty({"n": 1, "mcpServers": {"other": configs.OTHER}}).encode()


@pytest.fixture
def here(tmp_path):
    return place(tmp_path / "place")


def settings_of(here) -> Path:
    return Path(here.here.home, ".claude", "settings.json")


def config_of(here) -> Path:
    return Path(here.here.home, ".claude.json")


def test_a_link_is_written_through_and_stays_a_link(here):
    real = here.folder / "dotfiles" / "claude.json"
    plant(str(real), TEXT)
    config_of(here).symlink_to("../dotfiles/claude.json")
    before = here.snapshot()

    changes = here.install(CLAUDE, "user")

    assert str(real) in [change.path for change in changes]
    assert config_of(here).is_symlink()
    assert "triseek" in real.read_text()
    here.uninstall(CLAUDE, "user")
    assert here.snapshot() == before


@pytest.mark.parametrize("folder", ["", "not/there/yet"])
def test_a_dangling_link_gets_its_target_and_loses_it_again(here, folder):
    config_of(here).symlink_to(here.folder / folder / "target.json")
    before = here.snapshot()

    here.install(CLAUDE, "user")

    assert "triseek" in config_of(here).read_text()
    here.uninstall(CLAUDE, "user")
    assert here.snapshot() == before


def test_a_folder_that_is_a_link_stays_one(here):
    (here.folder / "elsewhere").mkdir()
    (Path(here.here.home) / ".claude").symlink_to(here.folder / "elsewhere")
    before = here.snapshot()

    here.install(CLAUDE, "user")

    assert (here.folder / "elsewhere/settings.json").exists()
    here.uninstall(CLAUDE, "user")
    assert here.snapshot() == before


def test_two_names_of_one_file_are_one_file(here):
    plant(str(config_of(here)), TEXT)
    (Path(here.here.cwd) / ".mcp.json").symlink_to(config_of(here))
    before = here.snapshot()

    here.install(CLAUDE, "user")
    here.install(CLAUDE, "project")
    here.uninstall(CLAUDE, "user")

    assert "triseek" in config_of(here).read_text()
    here.uninstall(CLAUDE, "project")
    assert here.snapshot() == before


def refused(here, why: str) -> None:
    before = here.snapshot()
    with pytest.raises(ConfigWriteFailed, match=why):
        here.install(CLAUDE, "user")
    assert here.snapshot() == before
    assert ledger.load() == ledger.Ledger()


def test_links_in_a_circle_are_refused(here):
    config_of(here).symlink_to(config_of(here))

    refused(here, "circle|Too many levels")


def test_a_read_only_file_is_refused(here):
    plant(str(settings_of(here)), b"{}")
    settings_of(here).chmod(0o444)

    refused(here, "read-only")


@pytest.mark.parametrize("kind", ["folder", "fifo", "device"])
def test_what_is_no_file_is_refused(here, kind):
    path = settings_of(here)
    path.parent.mkdir()
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/null")
    with pytest.raises(ConfigWriteFailed, match="not a regular file"):
        here.install(CLAUDE, "user")


def test_a_file_where_a_folder_belongs_is_refused(here):
    (Path(here.here.home) / ".claude").write_text("a file")

    refused(here, "cannot be read|not a folder")


def test_somebody_elses_command_is_refused(here):
    plant(str(settings_of(here).parent / "commands/triseek.md"), b"my own command\n")

    refused(here, "not ours")


def test_mode_and_owner_stay(here):
    plant(str(config_of(here)), TEXT)
    config_of(here).chmod(0o640)
    owner = (1234, 2345) if os.geteuid() == 0 else (os.geteuid(), os.getegid())
    os.chown(config_of(here), *owner)

    here.install(CLAUDE, "user")

    found = config_of(here).stat()
    assert stat.S_IMODE(found.st_mode) == 0o640
    assert (found.st_uid, found.st_gid) == owner


def test_one_file_that_cannot_be_written_takes_back_all_others(here, monkeypatch):
    plant(str(config_of(here)), TEXT)
    before, calls, real = here.snapshot(), [], writing.make

    def make(change: FileChange) -> None:
        calls.append(change.path)
        if change.path.endswith("triseek.md"):
            raise writing.Refused("it cannot be written: No space left on device")
        real(change)

    monkeypatch.setattr(writing, "make", make)
    refused(here, "No space left")

    assert len(calls) > 2
    assert here.snapshot() == before


def test_a_file_that_changes_while_we_work_is_left_as_it_is(here):
    plant(str(config_of(here)), TEXT)

    with pytest.raises(writing.Refused, match="meanwhile"):
        writing.make(FileChange(str(config_of(here)), b"{}", b"ours"))

    assert config_of(here).read_bytes() == TEXT


def test_there_is_one_backup_of_a_file_for_the_person_alone(here, home):
    plant(str(config_of(here)), TEXT)
    for scope in ("user", "local", "user"):
        here.install(CLAUDE, scope)

    [backup] = (home / "install/backups").iterdir()
    assert backup.read_bytes() == TEXT
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert stat.S_IMODE((home / "install").stat().st_mode) == 0o700
    assert stat.S_IMODE((home / "install/ledger.json").stat().st_mode) == 0o600
    beside = {path.name for path in Path(here.here.home).iterdir()}
    assert beside == {".claude", ".claude.json"}


@pytest.mark.parametrize("first", ["user", "local"])
def test_scopes_that_share_a_file_go_one_by_one(here, first):
    plant(str(config_of(here)), TEXT)
    before = here.snapshot()
    here.install(CLAUDE, "user")
    only_user = here.snapshot()
    here.install(CLAUDE, "local")

    here.uninstall(CLAUDE, first)

    if first == "local":
        assert here.snapshot() == only_user
    here.uninstall(CLAUDE, "user" if first == "local" else "local")
    assert here.snapshot() == before


def test_a_program_that_has_moved_is_named_anew_and_all_goes_in_the_end(here):
    plant(str(config_of(here)), TEXT)
    before = here.snapshot()
    here.install(CLAUDE, "user")
    moved = place(here.folder / "unused")
    moved.here = type(here.here)("/new/triseek", here.here.home, here.here.cwd, {"PATH": ""})

    assert moved.install(CLAUDE, "user")

    told = json.loads(config_of(here).read_text())
    assert told["mcpServers"]["triseek"]["command"] == "/new/triseek"
    hooks = json.loads(settings_of(here).read_text())["hooks"]
    assert all(len(groups) == 1 for groups in hooks.values())
    moved.uninstall(CLAUDE, "user")
    (here.folder / "unused/home").rmdir()
    (here.folder / "unused/project").rmdir()
    (here.folder / "unused").rmdir()
    assert here.snapshot() == before


def test_edits_by_hand_in_between_stay_and_a_second_install_follows_them(here):
    plant(str(config_of(here)), TEXT)
    here.install(CLAUDE, "user")
    text = config_of(here).read_text()
    config_of(here).write_text(text.replace('"n": 1,', '"n": 2,').replace('"serve"', '"broken"'))

    here.install(CLAUDE, "user")
    assert json.loads(config_of(here).read_text())["mcpServers"]["triseek"]["args"][1] == "serve"
    here.uninstall(CLAUDE, "user")

    assert config_of(here).read_bytes() == TEXT.replace(b'"n": 1', b'"n": 2')


def test_a_folder_that_somebody_else_uses_by_now_stays(here):
    here.install(CLAUDE, "user")
    other = settings_of(here).parent / "commands" / "mine.md"
    other.write_text("mine")

    here.uninstall(CLAUDE, "user")

    assert [path.name for path in settings_of(here).parent.rglob("*")] == ["commands", "mine.md"]


def test_trust_in_hooks_before_ours_is_kept(here):
    path = Path(here.here.home, ".codex/hooks.json")
    plant(str(path), configs.pretty({"hooks": {"PreToolUse": [configs.HOOK]}}).encode())

    here.install(Codex(), "user")

    assert json.loads(path.read_text())["hooks"]["PreToolUse"][0] == configs.HOOK


def test_a_damaged_ledger_is_an_empty_one(here, home):
    plant(str(config_of(here)), TEXT)
    here.install(CLAUDE, "user")
    for damage in (b"", b"[]", b"{", b'{"files": {"a": 1}}', b"\xff", b"[" * 100_000):
        (home / "install/ledger.json").write_bytes(damage)
        assert ledger.load() == ledger.Ledger()

    here.uninstall(CLAUDE, "user")

    assert json.loads(config_of(here).read_text()) == json.loads(TEXT)


def test_a_second_install_at_the_same_time_is_told_to_wait(here):
    with ledger.alone(), pytest.raises(Busy):
        here.install(CLAUDE, "user")


def test_a_state_folder_that_cannot_be_written_stops_it(here, home):
    (home / "install").write_text("a file")
    before = here.snapshot()

    with pytest.raises(StateUnwritable):
        here.install(CLAUDE, "user")

    assert here.snapshot() == before


def test_a_local_install_in_a_linked_working_tree_is_the_main_ones(here):
    main, linked = here.folder / "main", here.folder / "linked"
    (main / ".git/worktrees/linked").mkdir(parents=True)
    (main / ".git/worktrees/linked/commondir").write_text("../..\n")
    (linked / "deep").mkdir(parents=True)
    (linked / ".git").write_text(f"gitdir: {main}/.git/worktrees/linked\n")
    for cwd, root in ((linked / "deep", main), (main, main), (here.folder, here.folder)):
        there = type(here.here)("/t/triseek", here.here.home, str(cwd), {})
        member = CLAUDE.plan("local", there)[0]
        assert member.keys == ("projects", str(root), "mcpServers", "triseek")


@pytest.mark.parametrize("then", ["install", "uninstall"])
@pytest.mark.parametrize("survived", range(4))
def test_an_install_that_was_killed_leaves_nothing_that_cannot_be_undone(
    here, monkeypatch, survived, then
):
    plant(str(config_of(here)), configs.plain("mcpServers")["ours from elsewhere"])
    before, real, left = here.snapshot(), writing.make, [survived]

    class Killed(BaseException):
        pass

    def make(change: FileChange) -> None:
        if "/install/" not in change.path:
            left[0] -= 1
            if left[0] < 0:
                raise Killed
        real(change)

    saved = ledger.save
    with monkeypatch.context() as broken:
        broken.setattr(writing, "make", make)
        broken.setattr(writing, "undo", lambda change: None)
        broken.setattr(writing, "remove_if_empty", lambda folder: False)
        broken.setattr(ledger, "save", lambda kept: saved(kept) if kept.files else None)
        if survived < 3:
            with pytest.raises(Killed):
                here.install(CLAUDE, "user")
        else:
            here.install(CLAUDE, "user")
    if then == "install":
        here.install(CLAUDE, "user")

    here.uninstall(CLAUDE, "user")

    assert here.snapshot() == before
    assert ledger.load() == ledger.Ledger()


def test_a_new_file_in_the_home_is_for_the_person_alone(here):
    for scope in ("user", "project", "local"):
        here.install(CLAUDE, scope)

    mask = os.umask(0)
    os.umask(mask)
    shared = Path(here.here.cwd, ".mcp.json").stat()
    assert stat.S_IMODE(config_of(here).stat().st_mode) == 0o600
    assert stat.S_IMODE(settings_of(here).stat().st_mode) == 0o600
    assert stat.S_IMODE(shared.st_mode) == 0o666 & ~mask


@pytest.mark.parametrize("first", ["user", "local"])
@pytest.mark.parametrize("text", [None, TEXT], ids=["absent", "there"])
def test_scopes_that_share_a_file_go_one_by_one_from_what_the_agent_has_rewritten(
    here, first, text
):
    plant(str(config_of(here)), text)
    for scope in ("user", "local"):
        here.install(CLAUDE, scope)
    told = json.loads(config_of(here).read_text()) | {"userID": "u"}
    config_of(here).write_text(json.dumps(told))

    here.uninstall(CLAUDE, first)
    left = config_of(here).read_text()
    assert left.count('"mcp", "serve"') == 1
    here.uninstall(CLAUDE, "user" if first == "local" else "local")

    assert json.loads(config_of(here).read_text()) == json.loads(text or b"{}") | {"userID": "u"}
    assert ledger.load() == ledger.Ledger()


def test_files_that_somebody_has_removed_stay_removed(here):
    before = here.snapshot()
    here.install(CLAUDE, "user")
    for path in (config_of(here), settings_of(here), settings_of(here).parent / "commands"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    here.uninstall(CLAUDE, "user")

    assert here.snapshot() == before
    assert ledger.load() == ledger.Ledger()


def test_a_file_that_somebody_has_broken_stops_the_uninstall_until_it_is_mended(here):
    here.install(CLAUDE, "user")
    good = settings_of(here).read_text()
    settings_of(here).write_text(good[:-10])
    broken = here.snapshot()

    with pytest.raises(ConfigWriteFailed, match=r"settings\.json: it is not valid JSON"):
        here.uninstall(CLAUDE, "user")

    assert here.snapshot() == broken
    settings_of(here).write_text(good)
    here.uninstall(CLAUDE, "user")
    assert not settings_of(here).exists()


def test_a_large_config_is_edited_in_a_moment(here):
    history = [{"prompt": f"p{n}", "lines": ["x" * 40, n, None]} for n in range(20_000)]
    text = json.dumps({"projects": {"/p": {"history": history}}}, indent=2).encode()
    plant(str(config_of(here)), text)

    here.install(CLAUDE, "user")
    here.uninstall(CLAUDE, "user")

    assert config_of(here).read_bytes() == text
