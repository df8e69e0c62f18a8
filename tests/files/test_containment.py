"""What is inside of a root, and that nothing else is ever opened."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from tests import descriptors, sockets
from triseek.errors import RepoNotDetected
from triseek.files import containment
from triseek.files.containment import PathOutside, PathRefused, locate, open_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SECRET = "the secret outside\n"


class Tree:
    """`repo/` with links of every kind, and `outside/` beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(os.path.realpath(folder))
        self.path = self.folder / "repo"
        self.root = str(self.path)
        (self.path / "src" / "deep").mkdir(parents=True)
        (self.folder / "outside").mkdir()
        (self.folder / "repo-old").mkdir()
        (self.folder / "outside" / "secret").write_text(SECRET)
        (self.path / "src" / "a.py").write_text("inside\n")
        links = {
            "rootlink": "/",
            "out": "../outside",
            "src/out": "../../outside",
            "src/chained": "out",
            "src/leak.py": "../../outside/secret",
            "src/in.py": "a.py",
            "src/up": "deep/..",
            "src/over": "../../repo/src",
            "abs": f"{self.root}/src",
            "alias": f"{self.folder}/named/src",
            "loop": "loop",
            "ping": "pong",
            "pong": "ping",
            "dangling": "nowhere",
            "dangling-out": "/nowhere/at/all",
            "to-proc": "/proc/self/root",
            "to-zero": "/dev/zero",
            "to-fifo": "src/fifo",
        }
        for name, target in links.items():
            (self.path / name).symlink_to(target)
        (self.folder / "named").symlink_to(self.path)
        os.mkfifo(self.path / "src" / "fifo")
        sockets.bound(self.path / "src" / "socket").close()

    def read(self, path: str) -> str:
        with open(open_file(self.root, path), encoding="utf-8") as file:
            return file.read()


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Tree]:
    made = Tree(tmp_path)
    before = descriptors.opened()
    yield made
    assert not descriptors.opened() - before


@pytest.mark.parametrize(
    ("path", "real"),
    [
        (".", "."), ("", None), ("src", "src"), ("src/", "src"), ("./src/.//deep/..", "src"),
        ("src/a.py", "src/a.py"), ("src/in.py", "src/a.py"), ("src/up/a.py", "src/a.py"),
        ("abs/in.py", "src/a.py"), ("alias/a.py", "src/a.py"), ("src/a.py/", "src/a.py"),
        ("../repo/src", "src"), ("nowhere/../src", "src"),
    ],
)  # fmt: skip
def test_what_is_inside_is_found_links_resolved(tree: Tree, path: str, real: str | None) -> None:
    if real is None:
        with pytest.raises(PathRefused):
            locate(tree.root, path)
        return
    found = locate(tree.root, path)
    assert found.real == real
    assert found.kind == ("file" if real.endswith(".py") else "folder")


@pytest.mark.parametrize("lead", ["{folder}/repo", "{folder}/named", "/{folder}/named/../repo"])
def test_an_absolute_path_counts_by_any_name_of_the_root(tree: Tree, lead: str) -> None:
    base = lead.format(folder=tree.folder)
    if "/../" in base:  # by its text, as a shell's `cd` reads it
        base = f"/{tree.folder}/x/../repo"
    assert locate(tree.root, base).real == "."
    assert locate(tree.root, f"{base}/src/in.py").real == "src/a.py"
    assert locate(tree.root, f"{base}/src/a.py").named == "src/a.py"


@pytest.mark.parametrize(
    "path",
    [
        "..", "../outside/secret", "../repo-old", "/", "/etc/passwd", "/no/such/file",
        "~root/../..", "src/../../outside", "rootlink", "rootlink/etc/passwd",
        "rootlink/no/such/file", "out", "out/secret", "out/none", "src/out/secret",
        "src/chained/secret", "src/leak.py",
        "dangling-out", "to-proc", "to-proc/etc/passwd", "to-zero", "/dev/zero", "/dev/stdin",
        "/proc/self/environ", "/proc/self/cwd", "src/over/a.py", "rootlink/proc/self/fd/0",
    ],
)  # fmt: skip
def test_what_leads_out_is_refused_in_the_same_words_whether_or_not_it_is_there(
    tree: Tree, path: str
) -> None:
    for ask in (locate, open_file):
        with pytest.raises(PathOutside) as refused:
            ask(tree.root, path)
        assert str(refused.value) == f"{path!r} is outside of {tree.root!r}"


def test_a_folder_whose_name_begins_as_the_roots_is_outside(tree: Tree) -> None:
    with pytest.raises(PathOutside):
        locate(tree.root, str(tree.folder / "repo-old"))


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("src/fifo", "a FIFO"), ("to-fifo", "a FIFO"), ("src/socket", "a socket"),
        ("loop", "too many links"), ("ping/x", "too many links"), ("a\0b", "NUL"), ("  ", "empty"),
        ("n" * 300, "File name too long"), ("\ud800", "not a path"),
    ],
)  # fmt: skip
def test_what_is_neither_file_nor_folder_is_refused_by_what_it_is(
    tree: Tree, path: str, what: str
) -> None:
    for ask in (locate, open_file):
        with pytest.raises(PathRefused, match=what) as refused:
            ask(tree.root, path)
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "path", ["nowhere", "src/none/x", "src/a.py/below", "dangling", "x/" * 3000]
)
def test_what_is_not_there_is_missing(tree: Tree, path: str) -> None:
    assert locate(tree.root, path).kind == "missing"
    with pytest.raises(PathRefused, match="does not exist"):
        open_file(tree.root, path)


def test_a_path_that_takes_too_long_to_walk_is_refused(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree.path / "long").symlink_to("/".join(["src/.."] * 50))
    assert locate(tree.root, "long").real == "."
    monkeypatch.setattr(containment, "STEPS_MAX", 90)
    with pytest.raises(PathRefused, match="too many components"):
        locate(tree.root, "long")


def test_in_a_root_of_everything_devices_and_kernel_files_are_refused() -> None:
    for path, what in {
        "dev/zero": "a character device",
        "/dev/urandom": "a character device",
        "proc/self/environ": "a proc file system",
        "/proc": "a proc file system",
    }.items():
        with pytest.raises(PathRefused, match=what):
            locate("/", path)
    assert locate("/", "/usr").kind == "folder"


def test_names_that_are_not_utf_8_are_names(tree: Tree) -> None:
    os.mkdir(os.fsencode(tree.root) + b"/caf\xe9")
    (tree.path / "cafe").symlink_to(os.fsdecode(b"caf\xe9"))
    assert os.fsencode(locate(tree.root, "cafe").real) == b"caf\xe9"


def test_a_hard_link_is_a_file_of_the_root(tree: Tree) -> None:
    os.link(tree.folder / "outside" / "secret", tree.path / "hard")
    assert tree.read("hard") == SECRET


def test_a_folder_that_may_not_be_entered_is_refused(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.stat

    def denied(path: object, **more: object) -> os.stat_result:
        if path == b"deep":
            raise PermissionError(13, "Permission denied")
        return real(path, **more)  # type: ignore[arg-type,call-overload,no-any-return]

    monkeypatch.setattr(os, "stat", denied)
    with pytest.raises(PathRefused, match="Permission denied"):
        locate(tree.root, "src/deep")


def test_a_root_that_is_gone_is_said_to_be(tree: Tree) -> None:
    with pytest.raises(RepoNotDetected):
        locate(f"{tree.root}/none", "x")


def test_a_folder_is_no_file_to_open(tree: Tree) -> None:
    with pytest.raises(PathRefused, match="is a folder"):
        open_file(tree.root, "src")


def test_a_file_is_read_where_it_is(tree: Tree) -> None:
    for path in ("src/a.py", "src/in.py", "abs/a.py", f"{tree.folder}/named/src/a.py"):
        assert tree.read(path) == "inside\n"


# Somebody swaps a component between two system calls.


@contextmanager
def swapped_behind(call: str, which: int, swap: Callable[[], None]) -> Iterator[None]:
    """Run `swap` before the `which`th `os.<call>` relative to a folder."""
    real = getattr(os, call)
    seen = 0

    def raced(*given: object, **more: object) -> object:
        nonlocal seen
        if more.get("dir_fd") is not None:
            seen += 1
            if seen == which:
                swap()
        return real(*given, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, call, raced)
        yield


@pytest.mark.parametrize("call", ["stat", "open", "readlink"])
@pytest.mark.parametrize("which", range(1, 6))
@pytest.mark.parametrize("path", ["src/deep/b.py", "src/to-deep/b.py"])
def test_a_component_swapped_for_a_link_out_leaks_nothing(
    tree: Tree, call: str, which: int, path: str
) -> None:
    (tree.path / "src" / "deep" / "b.py").write_text("inside\n")
    (tree.path / "src" / "to-deep").symlink_to("deep")
    (tree.folder / "outside" / "b.py").write_text(SECRET)

    for component in ("src/deep", "src/deep/b.py", "src/to-deep"):
        kept = tree.path / "kept"

        def swap(component: str = component) -> None:
            with suppress(FileExistsError):
                os.rename(tree.path / component, tree.path / "kept")
            leads = "b.py" if component.endswith(".py") else "."
            (tree.path / component).symlink_to(tree.folder / "outside" / leads)

        with swapped_behind(call, which, swap):
            try:
                text = tree.read(path)
            except PathRefused:
                text = ""
        assert text in ("", "inside\n")
        if kept.exists() or kept.is_symlink():
            (tree.path / component).unlink()
            os.rename(kept, tree.path / component)


def test_a_fifo_in_a_files_place_is_not_waited_for(tree: Tree) -> None:
    def swap() -> None:
        (tree.path / "src" / "a.py").unlink()
        os.mkfifo(tree.path / "src" / "a.py")

    with swapped_behind("open", 2, swap), pytest.raises(PathRefused, match="a FIFO"):
        open_file(tree.root, "src/a.py")


def test_a_folder_moved_out_of_the_root_takes_nobody_along(tree: Tree) -> None:
    """A link's `..` is not that of the folder, which may have moved."""

    def move() -> None:
        os.rename(tree.path / "src" / "deep", tree.folder / "outside" / "deep")

    (tree.path / "src" / "secret").write_text("inside\n")
    (tree.path / "src" / "back").symlink_to("deep/../secret")
    with swapped_behind("stat", 4, move):
        assert tree.read("src/back") == "inside\n"


# Random trees of links, against `os.path.realpath`.

NAMES = ("a", "b", "c", "..", ".")


def grown(root: Path, random: Random) -> None:
    """Folders, files and links of a few names; links lead anywhere, also out and nowhere."""
    for _ in range(12):
        folder = root.joinpath(*random.choices("abc", k=random.randrange(3)))
        new = folder / random.choice("abc")
        if not folder.is_dir() or not _is_below(folder, root) or os.path.lexists(new):
            continue
        kind = random.randrange(4)
        if kind == 0:
            new.mkdir()
        elif kind == 1:
            new.write_text("x")
        else:
            lead = random.choice(("", "", "", f"{root}/", f"{root.parent}/", "/"))
            new.symlink_to(lead + "/".join(random.choices(NAMES, k=random.randrange(1, 5))))


def _is_below(path: str | Path, root: Path) -> bool:
    real = os.path.realpath(path)
    return real == str(root) or real.startswith(f"{root}/")


@pytest.mark.parametrize("seed", range(150))
def test_what_is_found_inside_is_what_the_kernel_finds_there(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    root = Path(os.path.realpath(tmp_path)) / "root"
    root.mkdir()
    (root.parent / "b").mkdir()
    (root.parent / "b" / "a").write_text("outside")
    grown(root, random)
    leaves = any(not _is_below(path, root) for path in root.rglob("*"))

    for _ in range(60):
        path = "/".join(random.choices(NAMES, k=random.randrange(1, 5)))
        named = os.path.normpath(root / path)
        try:
            found = locate(str(root), path)
        except PathRefused as refused:
            loops = "too many links" in str(refused)
            # Inside after all, though a link on the way may have left the root and come back.
            assert leaves or loops or not _is_below(named, root), path
            continue
        if found.kind == "missing":
            assert not os.path.exists(named), path
            continue
        assert _is_below(named, root), path
        assert os.path.normpath(root / found.real) == os.path.realpath(named), path
        assert found.kind == ("folder" if os.path.isdir(named) else "file"), path
