"""Awkward trees: what is text is found, what is not is counted, nothing is fatal."""

import os
import socket
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from tests.engine import answers
from triseek import errors
from triseek.engine.search.query import Query
from triseek.files.tree import walk
from triseek.index import build
from triseek.index.reader import IndexReader
from triseek.kernels import blocks
from triseek.model.search import ScopeSpec, Totals
from triseek.store import layout
from triseek.store.check import check
from triseek.store.segment import SegmentBuilder


def quiet(*_):
    return None


@pytest.fixture
def made(tmp_path):
    """make(files) → (root, index_dir): a tree and its index."""

    def make(files=None):
        root, index_dir = str(tmp_path / "root"), str(tmp_path / "index")
        os.makedirs(root, exist_ok=True)
        answers.write(root, files or {})
        build.build(root, index_dir)
        check(index_dir, quiet)
        return root, index_dir

    return make


def found(root, index_dir, *patterns, **more):
    """What the index alone says, once it was compared with a scan."""
    indexed, scan = answers.both(root, index_dir)
    said = answers.ask(indexed, *patterns, sweep=False, **more)
    assert said == answers.ask(scan, *patterns, **more)
    assert answers.ask(indexed, *patterns, **more) == said
    return said


def facts(index_dir):
    """{path: (skip, lines, flags)} of the first segment."""
    files = IndexReader.open(index_dir).views[0].segment.files
    columns = zip(
        *(files.numbers(name).tolist() for name in ("skip", "lines", "flags")), strict=True
    )
    return dict(zip(files.names("path").all(), columns, strict=True))


def test_encodings_line_ends_and_edges(made):
    text = "first\nné needle\nlast"
    root, index_dir = made(
        {
            "utf16le": b"\xff\xfe" + text.encode("utf-16-le"),
            "utf16be": b"\xfe\xff" + text.encode("utf-16-be"),
            "bom": b"\xef\xbb\xbf" + text.encode(),
            "crlf": text.replace("\n", "\r\n"),
            "latin1": text.encode("latin-1"),
            "empty": b"",
            "only bom": b"\xef\xbb\xbf",
            "odd utf16": b"\xff\xfen\0e",
            "one": b"n",
            "newline": b"\n",
            "nul": b"needle\0",
            "utf16 nul": b"\xff\xfe" + "needle\0".encode("utf-16-le"),
            b"raw\xff\xfe name".decode(errors="surrogateescape"): text,
            "new\nline": text,
        }
    )
    names = {"utf16le", "utf16be", "bom", "crlf", "latin1", "new\nline", "raw\udcff\udcfe name"}
    assert set(answers.paths(found(root, index_dir, "needle"))) == names
    assert {rows[0][0] for _, _, rows in found(root, index_dir, "needle")} == {2}
    assert set(answers.paths(found(root, index_dir, "né", more={"after": 1}))) == names - {"latin1"}
    told = facts(index_dir)
    assert {path for path, (skip, _, _) in told.items() if skip} == {b"nul", b"utf16 nul"}
    assert {p for p, (_, _, flags) in told.items() if flags & layout.FLAG_TRANSCODED} == {
        b"utf16le", b"utf16be", b"bom", b"only bom", b"odd utf16", b"utf16 nul"
    }  # fmt: skip
    assert [told[name][1] for name in (b"crlf", b"empty", b"one", b"newline")] == [3, 0, 1, 1]


def large(path, size, *, line=b"some line of text without it\n"):
    """A file of `size` bytes, `needle` in its first, middle and last line, the last unended."""
    middle = line * (size // 2 // len(line))
    with open(path, "wb") as file:
        file.write(b"needle one\n" + middle + b"needle two\n" + middle + b"needle three")
    return middle.count(b"\n")


def test_a_file_of_40_mb_is_found_in_line_by_line(tmp_path, made):
    (tmp_path / "root").mkdir()
    lines = large(tmp_path / "root" / "big", 40 << 20)
    root, index_dir = made({"small": "needle\n"})
    (path, count, rows), small = found(root, index_dir, "needle")
    assert (path, count, small[1]) == (b"big", 3, 1)
    assert [row[0] for row in rows] == [1, lines + 2, 2 * lines + 3]
    totals = Totals()
    request = answers.SearchRequest(pattern=answers.PatternSpec(patterns=("needle",)), sweep=False)
    for _ in answers.both(root, index_dir)[0].search(Query.of(root, request), totals):
        pass
    assert totals.bytes_searched < 200_000


@pytest.mark.slow
def test_a_file_of_200_mb_is_indexed_in_bounded_memory(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    large(root / "big", 200 << 20)
    code = f"""
        import resource
        from triseek.index.build import build
        report = build({str(root)!r}, {str(tmp_path / "index")!r})
        print(report.text_bytes, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    size, rss_kib = map(
        int, subprocess.run(command, capture_output=True, check=True).stdout.split()
    )
    assert size > 200 << 20
    assert rss_kib < 900 << 10
    assert [len(rows) for _, _, rows in found(str(root), tmp_path / "index", "needle")] == [3]


def test_one_line_of_30_mb_is_one_block(tmp_path, made):
    (tmp_path / "root").mkdir()
    with open(tmp_path / "root" / "long", "wb") as file:
        file.write(b"before\n" + b"x = y+1;"[:8] * (30 << 20 >> 3) + b"needle\nafter")
    root, index_dir = made()
    ((_, count, rows),) = found(root, index_dir, "needle")
    assert (count, rows[0][0]) == (1, 1 + 1)
    assert [row[0] for row in found(root, index_dir, "after")[0][2]] == [3]


def test_a_block_may_hold_nearly_every_trigram(tmp_path, made):
    """Random bytes without NUL and newline: nothing else makes as many pairs of one block."""
    (tmp_path / "root").mkdir()
    noise = np.random.default_rng(1).integers(11, 256, 6 << 20, np.uint8).tobytes()
    with open(tmp_path / "root" / "noise", "wb") as file:
        file.write(noise + b"\n" + b"tail needle\n" + noise[: 1 << 20])
    root, index_dir = made({"a": "needle\n"})
    assert answers.paths(found(root, index_dir, "needle", mode="files")) == ["a", "noise"]
    assert len(IndexReader.open(index_dir).views[0].segment.trigrams) > 4_000_000


def test_a_nul_after_many_blocks_makes_a_file_binary_and_its_neighbours_stay(made):
    text = b"needle\n" * 400_000
    root, index_dir = made({"a": "needle\n", "b": text + b"\0", "c": "x\nneedle"})
    assert answers.paths(found(root, index_dir, "needle", mode="count")) == ["a", "c"]
    skip, lines, flags = facts(index_dir)[b"b"]
    assert (skip, lines, bool(flags & layout.FLAG_BINARY)) == (0, 400_000, True)


def test_deep_folders_links_pipes_and_sockets(tmp_path, made):
    root = tmp_path / "root"
    deep = "/".join(["d"] * 300)
    answers.write(root, {f"{deep}/f": "needle\n", "a/b": "needle\n"})
    os.symlink(root, root / "a" / "loop")
    os.symlink("b", root / "a" / "link")
    os.symlink("nowhere", root / "broken")
    os.mkfifo(root / "fifo")
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(root)
        server.bind("socket")
        os.chdir(here)
        _, index_dir = made()
        said = found(str(root), index_dir, "needle")
    assert answers.paths(said) == ["a/b", f"{deep}/f"]
    assert found(str(root), index_dir, "needle", scope=ScopeSpec(globs=("f",)))[0][1] == 1


def test_paths_longer_than_the_system_takes_are_not_fatal(tmp_path, made):
    root, here = tmp_path / "root", os.getcwd()
    root.mkdir()
    os.chdir(root)
    try:
        for _ in range(300):
            os.mkdir("folder-of-16-byte")
            os.chdir("folder-of-16-byte")
        with open("file", "w") as file:
            file.write("needle\n")
    finally:
        os.chdir(here)
    root, index_dir = made({"near": "needle\n"})
    assert answers.paths(found(root, index_dir, "needle")) == ["near"]
    skipped = build.build(root, index_dir).skipped
    assert [entry.reason for entry in skipped] == ["unreadable"]


def test_what_the_user_may_not_read_is_counted_and_reported(tmp_path):
    root = tmp_path / "root"
    answers.write(root, {"open": "needle\n", "shut": "needle\n", "dir/in": "needle\n"})
    os.chmod(root / "shut", 0)
    os.chmod(root / "dir", 0)
    # Everything is imported, and used once, while the interpreter's own files can be read.
    code = f"""
        import os
        from tests.engine import answers
        from triseek.index.build import build
        answers.write({str(tmp_path / "other")!r}, {{"a": "needle"}})
        build({str(tmp_path / "other")!r}, {str(tmp_path / "first")!r})
        for backend in answers.both({str(tmp_path / "other")!r}, {str(tmp_path / "first")!r}):
            answers.ask(backend, "needle")
        if os.getuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        root, index_dir = {str(root)!r}, {str(tmp_path / "state" / "index")!r}
        report = build(root, index_dir)
        print(report.files_seen, report.files_indexed)
        print(sorted((entry.path, entry.reason) for entry in report.skipped))
        indexed, scan = answers.both(root, index_dir)
        said = answers.ask(indexed, "needle")
        print(answers.paths(said), said == answers.ask(scan, "needle"))
        os.chmod({str(tmp_path / "state" / "index")!r}, 0o500)
        print(answers.ask(answers.both(root, index_dir)[0], "needle") == said)
    """
    (tmp_path / "state").mkdir(mode=0o700)
    if os.getuid() == 0:  # the user it becomes has to come here, and owns the state
        os.chown(tmp_path / "state", 65534, 65534)
        for folder in (tmp_path, *tmp_path.parents):
            os.chmod(folder, os.stat(folder).st_mode | 0o055)
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, check=False, capture_output=True, env=environment, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "2 1",
        "[(b'dir', 'unreadable'), (b'shut', 'unreadable')]",
        "['open'] True",
        "True",
    ]


def test_an_empty_tree_is_an_index_like_any_other(made):
    root, index_dir = made()
    assert found(root, index_dir, "needle") == []
    answers.write(root, {"a": "needle\n"})
    indexed, _ = answers.both(root, index_dir)
    assert answers.paths(answers.ask(indexed, "needle")) == ["a"]


def test_files_are_in_the_order_of_ripgreps_sorted_walk(made):
    names = ["a", "a.c", "a/b", "a-b", "A", "b/a/c", "b.c"]
    _, index_dir = made({name if name != "a" else "a0": "x\n" for name in names})
    paths = IndexReader.open(index_dir).views[0].names.all()
    assert paths == sorted(paths, key=walk.path_order)


def test_a_build_that_fails_leaves_the_old_index_and_no_rest(tmp_path, monkeypatch):
    root, index_dir = str(tmp_path / "root"), tmp_path / "index"
    answers.write(root, {"a": "needle\n"})
    build.build(root, index_dir)
    before = sorted(path.name for path in (index_dir / layout.SEGMENTS).iterdir())

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(SegmentBuilder, "publish", full)
    with pytest.raises(errors.StateUnwritable, match="No space left"):
        build.build(root, index_dir)
    assert sorted(path.name for path in (index_dir / layout.SEGMENTS).iterdir()) == before
    assert answers.paths(found(root, index_dir, "needle")) == ["a"]


def test_a_root_that_is_gone_is_no_fault_of_the_state_folder(tmp_path):
    with pytest.raises(errors.RepoNotDetected):
        build.build(str(tmp_path / "gone"), tmp_path / "index")


def test_reports_count_what_was_done(tmp_path):
    root, index_dir = str(tmp_path / "root"), tmp_path / "index"
    answers.write(root, {"a": "one\n", "b": "two\0", "c/d": b"\xef\xbb\xbfabc"})
    said = []
    report = build.build(root, index_dir, progress=lambda *step: said.append(step))
    assert (report.generation, report.rebuilt_full) == (1, True)
    assert (report.files_seen, report.files_indexed, report.text_bytes) == (3, 2, 7)
    assert report.postings == 2
    assert {stage for stage, _, _ in said} == {"walk", "read", "write"}
    assert build.build(root, index_dir).generation == 2


def test_blocks_are_cut_at_about_sixteen_kib(made):
    root, index_dir = made({"a": "0123456789abcde\n" * 5_000})
    view = IndexReader.open(index_dir).views[0]
    rows = view.segment.blocks
    assert set(rows.numbers("length")[:-1].tolist()) == {blocks.BLOCK_BYTES}
    assert rows.numbers("first_line").tolist() == [1 + 1024 * k for k in range(view.blocks)]
    assert len(found(root, index_dir, "9abc")[0][2]) == 5_000


def test_the_language_is_that_of_the_name(tmp_path):
    root, index_dir = str(tmp_path / "root"), str(tmp_path / "index")
    answers.write(root, {"a/b.c/x.py": "x", "a.py/Makefile": "x"})
    build.build(root, index_dir)
    (view,) = IndexReader.open(index_dir).views
    languages = dict(zip(view.names.all(), view.segment.files.strings("language"), strict=True))
    assert languages == {b"a/b.c/x.py": "python", b"a.py/Makefile": "make"}
