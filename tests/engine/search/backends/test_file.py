"""Which files are opened for a search, and that none of them is waited for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triseek.engine.search.backends.file import FileSearch, Searched
from triseek.engine.search.query import Query
from triseek.files.access import open_below
from triseek.model.search import Opening, PatternSpec, ScopeSpec, SearchRequest

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def root(repo: Callable[[dict[str, str]], str]) -> Path:
    made = Path(os.path.realpath(repo({"a.txt": "a needle\n", "sub/b.txt": "a needle\n"})))
    (made.parent / "outside.txt").write_text("a needle outside\n")
    return made


def search(root: Path, opening: Opening = "any", *, follow: bool = False) -> FileSearch:
    spec = PatternSpec(patterns=("needle",))
    request = SearchRequest(pattern=spec, scope=ScopeSpec(follow=follow), opening=opening)
    return FileSearch(Query.of(str(root), request))


def fault(searched: Searched) -> str:
    assert searched.found is None
    assert searched.skipped is not None
    assert searched.skipped.reason == "unreadable"
    return searched.skipped.detail


@given(
    st.text("a\né€\U0001f600\0"),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be"]),
    st.integers(-3, 3),
)
def test_the_end_of_a_text_is_known_in_every_encoding(
    tmp_path_factory: pytest.TempPathFactory, content: str, codec: str, off: int
) -> None:
    mark = "\ufeff" if codec.startswith("utf-16") else ""
    root = tmp_path_factory.mktemp("root")
    (root / "a").write_bytes((mark + content).encode(codec))
    end = len(content.encode())

    assert search(root).text_ends_at(b"a", end + off) == (off == 0)


@pytest.mark.parametrize("opening", ["any", "regular", "inside"])
def test_a_named_file_is_searched(root: Path, opening: Opening) -> None:
    for path in (b"a.txt", b"sub/b.txt"):
        assert search(root, opening)(path, explicit=True).found is not None


@pytest.mark.parametrize("opening", ["regular", "inside"])
def test_a_named_device_or_fifo_is_refused_and_not_waited_for(root: Path, opening: Opening) -> None:
    os.mkfifo(root / "fifo")
    (root / "null").symlink_to("/dev/null")

    assert "FIFO" in fault(search(root, opening)(b"fifo", explicit=True))
    assert fault(search(root, opening)(b"null", explicit=True))


def test_a_persons_own_process_reads_a_device(root: Path) -> None:
    (root / "null").symlink_to("/dev/null")

    assert search(root, "any")(b"null", explicit=True) == Searched(None, None, 0)


def test_an_agents_file_that_has_become_a_link_out_is_not_read(root: Path) -> None:
    (root / "a.txt").unlink()
    (root / "a.txt").symlink_to("../outside.txt")
    (root / "sub").rename(root / "moved")
    (root / "sub").symlink_to("..")
    (root.parent / "b.txt").write_text("a needle outside\n")

    assert "outside of" in fault(search(root, "inside")(b"a.txt", explicit=True))
    assert "outside of" in fault(search(root, "inside")(b"sub/b.txt", explicit=True))
    assert search(root, "any")(b"a.txt", explicit=True).found is not None  # as ripgrep


def test_a_listed_file_that_has_become_a_link_or_a_fifo_is_there_no_more(root: Path) -> None:
    (root / "a.txt").unlink()
    (root / "a.txt").symlink_to("../outside.txt")
    (root / "sub" / "b.txt").unlink()
    os.mkfifo(root / "sub" / "b.txt")

    for path in (b"a.txt", b"sub/b.txt"):
        assert search(root)(path) == Searched(None, None, 0)
    assert search(root, follow=True)(b"a.txt").found is not None
    assert search(root, follow=True)(b"sub/b.txt") == Searched(None, None, 0)


def test_what_ripgrep_has_found_is_looked_at_without_waiting(root: Path) -> None:
    os.mkfifo(root / "fifo")

    assert search(root).text_ends_at(b"fifo", 0) is False


def test_the_index_opens_regular_files_only(root: Path) -> None:
    os.mkfifo(root / "fifo")
    (root / "link").symlink_to("a.txt")
    folder = os.open(root, os.O_RDONLY)
    try:
        for name in (b"fifo", b"link", b"sub"):
            with pytest.raises(OSError, match=r"FIFO|symbolic|folder"):
                open_below(folder, name)
        os.close(open_below(folder, b"sub/b.txt"))
    finally:
        os.close(folder)
