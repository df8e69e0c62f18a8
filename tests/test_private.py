"""Who may have written what lies at a path, with real owners where the tests run as root."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triseek import paths, private

ROOT = Path(__file__).parents[1]
OTHER = 65533


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.fixture
def chain(tmp_path):
    """Four folders, each in the one before, of mode 0755."""
    folders = [tmp_path / "a", tmp_path / "a/b", tmp_path / "a/b/c", tmp_path / "a/b/c/d"]
    folders[-1].mkdir(parents=True)
    for folder in folders:
        folder.chmod(0o755)
    return folders


def test_what_is_this_users_alone_is_trusted(chain):
    assert private.distrust(chain[-1]) is None
    assert private.distrust(chain[-1] / "not" / "yet") is None


@pytest.mark.parametrize("bits", [0o777, 0o757, 0o757 | stat.S_ISGID])
@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_a_folder_that_others_may_write_is_named_wherever_it_is(chain, level, bits):
    chain[level].chmod(bits)

    trouble = private.distrust(chain[-1])

    assert trouble is not None
    assert trouble.place == str(chain[level])
    assert "can be written by others" in trouble.reason
    subprocess.run(trouble.cure, shell=True, check=True)
    assert private.distrust(chain[-1]) is None


def test_a_group_of_others_is_others(chain, monkeypatch):
    monkeypatch.setattr(private, "_is_private_group", lambda *_: False)
    chain[1].chmod(0o775)

    assert private.distrust(chain[-1]).place == str(chain[1])


def test_the_group_of_this_user_alone_is_this_user(chain, monkeypatch):
    """A umask of 002 is common where each user has a group of that name."""
    import grp
    import pwd

    user = pwd.struct_passwd(("me", "x", os.geteuid(), 4711, "", "/", "/bin/sh"))
    status = os.stat_result((0o040775, 0, 0, 0, os.geteuid(), 4711, 0, 0, 0, 0))
    monkeypatch.setattr(pwd, "getpwuid", lambda _: user)
    for group, alone in {
        ("me", "x", 4711, ()): True,
        ("me", "x", 4711, ("me",)): True,
        ("me", "x", 4711, ("me", "you")): False,
        ("staff", "x", 4711, ()): False,
        ("me", "x", 4712, ()): False,
    }.items():
        monkeypatch.setattr(grp, "getgrgid", lambda _, group=group: grp.struct_group(group))
        assert private._is_private_group(str(chain[0]), status) is alone
    everybody = os.stat_result((0o040777, 0, 0, 0, os.geteuid(), 4711, 0, 0, 0, 0))
    assert not private._is_private_group(str(chain[0]), everybody)


def test_in_a_sticky_folder_what_is_ours_is_trusted_and_the_folder_itself_is_not(chain):
    chain[1].chmod(0o1777)

    assert private.distrust(chain[-1]) is None
    assert private.distrust(chain[1]).place == str(chain[1])


def test_a_link_is_followed_through_every_folder_it_leads_through(chain, tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open/within").symlink_to(chain[-1])
    (tmp_path / "link").symlink_to("open/../open/within")
    assert private.distrust(tmp_path / "link") is None

    (tmp_path / "open").chmod(0o777)

    assert private.distrust(tmp_path / "link").place == str(tmp_path / "open")
    assert private.distrust(chain[-1]) is None


def test_links_without_end_are_not_trusted(tmp_path):
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")

    assert private.distrust(tmp_path / "one") is not None


@pytest.mark.root
@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_a_folder_of_another_user_is_not_trusted_wherever_it_is(chain, level):
    os.chown(chain[level], OTHER, OTHER)

    trouble = private.distrust(chain[-1])

    assert (trouble.place, trouble.reason) == (
        str(chain[level]), f"belongs to another user (uid {OTHER})",
    )  # fmt: skip


@pytest.mark.root
def test_a_link_of_another_user_is_not_trusted(chain, tmp_path):
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o1777)
    link = tmp_path / "shared/link"
    link.symlink_to(chain[-1])
    assert private.distrust(link) is None
    os.lchown(link, OTHER, OTHER)

    assert private.distrust(link).place == str(link)


@pytest.mark.root
def test_a_user_trusts_root_and_no_third():
    """Asked by a process of another user, which has loaded what it needs before."""
    code = (
        "import os, sys, grp, pwd, shlex\n"
        "from triseek import private\n"
        f"os.setgid({OTHER}); os.setuid({OTHER})\n"
        "print(*(private.distrust(place) is None for place in sys.argv[1:]))"
    )
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        folders = [os.path.join(place, name) for name in ("of-root", "own", "of-a-third")]
        for folder, owner in zip(folders, (0, OTHER, OTHER - 1), strict=True):
            os.mkdir(folder, 0o755)
            os.chown(folder, owner, owner)
        done = subprocess.run(
            [sys.executable, "-c", code, *folders],
            env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
        )  # fmt: skip
    assert done.stdout == "True True False\n"


@pytest.mark.parametrize("mask", [0, 0o022, 0o027, 0o077, 0o277])
def test_what_is_made_is_for_its_owner_whatever_the_umask(home, monkeypatch, mask):
    monkeypatch.setenv("TRISEEK_HOME", str(home / "x" / "state"))
    before = os.umask(mask)
    try:
        private.make(os.path.join(paths.indexes(), "abc", "segments"))
    finally:
        os.umask(before)

    made = [home / "x", home / "x/state", *(home / "x/state").rglob("*")]
    assert [path.name for path in made] == ["x", "state", "indexes", "abc", "segments"]
    assert {mode(path) for path in made} == {0o700}


@given(st.lists(st.sampled_from([0o700, 0o755, 0o775, 0o750, 0o701]), min_size=3, max_size=3))
@settings(max_examples=20)
def test_a_state_folder_that_others_may_enter_is_tightened(tmp_path_factory, modes):
    state = tmp_path_factory.mktemp("state")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRISEEK_HOME", str(state))
        inner = state / "indexes" / "abc"
        inner.mkdir(parents=True)
        for folder, bits in zip((state, inner.parent, inner), modes, strict=True):
            folder.chmod(bits)
        private.tighten(inner)

    assert {mode(folder) for folder in (state, inner.parent, inner)} == {0o700}


@pytest.mark.parametrize("bits", [0o1777, 0o755])
def test_a_folder_that_serves_others_too_keeps_its_mode(home, bits):
    (home / "something else").mkdir()
    (home / "indexes").mkdir()
    home.chmod(bits)

    private.make(paths.indexes()) if bits == 0o755 else private.tighten(paths.indexes())

    assert mode(home) == bits
    assert mode(home / "indexes") == 0o700


@pytest.mark.root
def test_nothing_is_made_in_or_changed_of_another_users_state(home):
    home.chmod(0o755)
    os.chown(home, OTHER, OTHER)

    with pytest.raises(PermissionError, match="belongs to another user"):
        private.make(paths.indexes())

    assert mode(home) == 0o755
    assert list(home.iterdir()) == []
