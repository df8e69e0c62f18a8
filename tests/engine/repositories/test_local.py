"""What a query over local repositories answers: freshness, caps, nested roots, names, reading."""

from __future__ import annotations

import os
import time

import pytest

from tests.files.tree.test_tracked import git
from triseek.engine.repositories import best, candidates, documents, scores
from triseek.engine.repositories.run import LINES_MIN
from triseek.errors import BackendFailure, InvalidQuery, InvalidRequest
from triseek.model.code_search import CodeRequest


def search(source, query, **options):
    return source.search(CodeRequest(query=query, **options))


def paths(result):
    return [(file.repository, file.path) for file in result.files]


def test_an_edit_a_removal_and_a_rename_are_seen_at_once(tree, local):
    root = tree("one", {"a.py": "old_name\n", "b.py": "old_name\n", "c.py": "other\n"})
    source = local(root)
    assert paths(search(source, "old_name")) == [("one", b"a.py"), ("one", b"b.py")]

    with open(f"{root}/a.py", "w") as file:
        file.write("new_name\n")
    os.unlink(f"{root}/b.py")
    os.rename(f"{root}/c.py", f"{root}/old_name.py")

    assert paths(search(source, "old_name")) == [("one", b"old_name.py")]
    assert paths(search(source, "new_name")) == [("one", b"a.py")]


@pytest.mark.parametrize("indexed", [True, False])
def test_content_is_shown_before_names_and_lines_have_their_context(tree, local, indexed):
    root = tree("one", {"token.py": "one\ntoken token\nthree\n"}, indexed=indexed)
    (file,) = search(local(root), "token", context_lines=1).files
    (line,) = file.lines
    assert (line.number, line.text, line.offset) == (2, b"token token", 4)
    assert line.spans == ((0, 5), (6, 11))
    assert (line.before, line.after) == ((b"one",), (b"three",))
    assert file.name_spans == ()
    assert file.language == "Python"
    assert file.match_count == 1


def test_caps_cut_files_and_lines_but_no_count(tree, local):
    one = tree("one", {f"f{n}.txt": "word\n" * 10 for n in range(8)})
    two = tree("two", {"only.txt": "a word here\n"})
    result = search(local(one, two), "word", max_files=5, max_matches=7)
    # Each file has a line before any has more.
    assert [len(file.lines) for file in result.files] == [3, 1, 1, 1, 1]
    assert result.counts == {"one": (8, 80), "two": (1, 1)}
    assert (result.file_count, result.match_count, result.partial) == (9, 81, ())


def test_a_common_word_ends_the_search_and_the_answer_says_so(tree, local):
    files = {f"{n:03}.txt": "word\n" * (LINES_MIN // 4) for n in range(9)}
    result = search(local(tree("one", files)), "word", max_files=2)
    assert (result.file_count, result.match_count) == (4, LINES_MIN)
    assert any("ended after" in reason for reason in result.partial)
    assert result.at_limits == result.partial


def test_time_that_is_over_makes_the_answer_partial(tree, local):
    roots = [tree(name, {"a.txt": "word\n"}) for name in ("one", "two")]
    result = search(local(*roots), "word", seconds=0.0)
    assert result.files == []
    assert len(result.partial) == 2
    assert "time was over" in result.partial[0]


def test_files_of_an_inner_root_belong_to_it_alone(tree, local):
    outer = tree("outer", {"a.txt": "word", "sub/b.txt": "word", "subway/c.txt": "word"})
    inner = tree("outer/sub", {"b.txt": "word"})
    result = search(local(outer, inner), "word")
    assert sorted(paths(result)) == [
        ("outer", b"a.txt"), ("outer", b"subway/c.txt"), ("sub", b"b.txt"),
    ]  # fmt: skip
    assert [each.name for each in local(outer, inner).repositories("f:b.txt").repositories] == [
        "sub"
    ]


def test_a_root_that_is_gone_is_reported_and_the_others_answer(tree, local, tmp_path):
    one, two = tree("one", {"a.txt": "word"}), tree("two", {"a.txt": "word"})
    source = local(one, two)
    os.rename(one, tmp_path / "moved")
    result = search(source, "word")
    assert paths(result) == [("two", b"a.txt")]
    assert len(result.partial) == 1
    assert result.partial[0].startswith("one was not searched")

    os.rename(two, tmp_path / "moved too")
    with pytest.raises(BackendFailure, match="no repository could be searched"):
        search(source, "word")


def test_a_damaged_index_does_not_hide_matches(tree, local):
    from triseek.engine.roots import index_dir

    root = tree("one", {"a.txt": "word\n"})
    with open(os.path.join(index_dir(root), "CURRENT"), "r+b") as file:
        file.write(b"garbage")
    assert paths(search(local(root), "word")) == [("one", b"a.txt")]


def test_what_is_not_read_is_named(tree, local, monkeypatch):
    monkeypatch.setattr(documents, "FILE_BYTES_MAX", 10)
    root = tree("one", {"a.txt": "word\n", "b.txt": "word and more\n"})
    result = search(local(root), "word")
    assert paths(result) == [("one", b"a.txt")]
    assert "b.txt" in result.partial[0]


def test_repositories_are_listed_by_name_and_by_query(tree, local):
    roots = [tree(name, {"a.txt": f"word {name}\n"}) for name in ("zeta", "alpha")]
    source = local(*roots)
    everything = source.repositories().repositories
    assert [each.name for each in everything] == ["alpha", "zeta"]
    assert everything[0].files == 1
    assert everything[0].content_bytes
    assert everything[0].indexed_at
    assert [each.name for each in source.repositories("zeta").repositories] == ["zeta"]
    assert [each.name for each in source.repositories("r:^al").repositories] == ["alpha"]
    assert [each.name for each in search(source, "type:repo word alpha").repositories] == ["alpha"]
    assert source.repositories("nothing of this").repositories == []


def test_conditions_on_repositories_prune_them(tree, local):
    files = {".git/config": "[zoekt]\n\tpublic = 1\n", ".git/HEAD": "ref: refs/heads/topic/x\n"}
    one, two = tree("one", {"a.txt": "word", **files}), tree("two", {"a.txt": "word"})
    source = local(one, two)
    found = {
        query: {file.repository for file in search(source, f"word {query}").files}
        for query in ("r:one", "-r:one", "public:yes", "fork:no", "b:topic", "b:HEAD", "r:ONE")
    }
    assert found == {
        "r:one": {"one"}, "-r:one": {"two"}, "public:yes": {"one"}, "fork:no": {"one", "two"},
        "b:topic": {"one"}, "b:HEAD": {"one", "two"}, "r:ONE": set(),
    }  # fmt: skip


def test_hostile_names_and_binary_files(tree, local):
    names = [b"-rf", b"a\nb.txt", b"\xff\xfe.txt", b"[x].txt", b"*", b"q'\"uote", b"dir with \\/f"]
    root = tree("one", dict.fromkeys(names, b"word\n") | {b"bin.dat": b"word\0word"})
    for indexed in (True, False):
        result = search(local(root), "word")
        assert {file.path for file in result.files} == set(names), indexed
    assert paths(search(local(root), "f:bin")) == [("one", b"bin.dat")]
    assert {file.path for file in search(local(root), "-f:txt").files} == {
        *names, b"bin.dat",
    } - {b"a\nb.txt", b"\xff\xfe.txt", b"[x].txt"}  # fmt: skip


@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize("direct_max", [candidates.DIRECT_MAX, 0])
def test_bytes_that_are_not_utf8_are_matched_as_in_go(
    tree, local, monkeypatch, indexed, direct_max
):
    monkeypatch.setattr(candidates, "DIRECT_MAX", direct_max)
    files = {"latin.txt": b"x\nbad \xe9\xff byte\n", "utf8.txt": "bad é\nxéx\n"}
    source = local(tree("one", files, indexed=indexed))
    (file,) = search(source, "c:bad.*byte").files
    assert [(line.number, line.offset, line.spans) for line in file.lines] == [(2, 2, ((0, 11),))]
    assert paths(search(source, "c:bad[^a-z]{3}.byte")) == [("one", b"latin.txt")]
    assert paths(search(source, "c:x..x")) == []  # two bytes of one character


def test_better_matches_come_first_in_all_repositories(tree, local):
    one = tree("one", {"use.py": "x = make_thing()\n", "part.py": "remake_things()\n"})
    two = tree("two", {"test_it.py": "make_thing()\n", "make.py": "def make_thing():\n    pass\n"})
    result = search(local(one, two), "make_thing")
    order = [path for _, path in paths(result)]
    assert order[0] == b"make.py"
    assert order[-1] == b"part.py"
    assert order[1:3] == [b"use.py", b"test_it.py"]
    assert paths(search(local(two, one), "make_thing")) == paths(result)


def test_the_whole_content_is_returned_if_it_is_asked_for(tree, local):
    root = tree("one", {"a.txt": "word\nmore\n"})
    assert search(local(root), "word", whole=True).files[0].content == b"word\nmore\n"


def test_reading_stays_inside_the_root(tree, local, tmp_path):
    (tmp_path / "secret").write_text("s")
    root = tree("one", {"a/b.txt": "text"})
    os.symlink(tmp_path / "secret", f"{root}/link")
    source = local(root)
    assert source.read("one", b"a/b.txt") == b"text"
    for path in (b"../secret", b"link", b"a", b"nope", b"/etc/passwd", b"a/\xff", b"a\0b"):
        with pytest.raises(InvalidRequest):
            source.read("one", path)
    with pytest.raises(InvalidRequest, match="no such repository"):
        source.read("two", b"a/b.txt")


def test_what_is_not_searched_is_not_read(tree, local):
    files = {"a.txt": "text", ".env": "SECRET=1", "out/x": "x", ".gitignore": "out\n"}
    root = tree("one", files)
    git(root, "init", "-q", ".")
    git(root, "add", "a.txt", ".gitignore")
    os.symlink(".git/config", f"{root}/link")
    source = local(root)
    assert source.read("one", b".gitignore") == b"out\n"
    for path in (b".git/config", b"link", b".env", b"out/x", b"out/../.git/config"):
        with pytest.raises(InvalidRequest, match="is not searched"):
            source.read("one", path)


def test_a_query_that_cannot_be_understood_raises(tree, local):
    source = local(tree("one", {"a.txt": "word"}))
    for query in ("(", '"', "sym:", "f:[", "word or"):
        with pytest.raises(InvalidQuery):
            search(source, query)


def test_a_pattern_that_matches_everywhere_ends_in_time(tree, local):
    root = tree("one", {"big.txt": b"ab" * 500_000})
    started = time.monotonic()
    result = search(local(root), "a", seconds=5)
    assert time.monotonic() - started < 5
    assert paths(result) == [("one", b"big.txt")]
    assert result.files[0].match_count == 1


def test_an_answer_counts_as_much_as_the_request_allows(tree, local):
    files = {f"{n:03}.txt": "word\n" * 10 for n in range(9)}
    source = local(tree("one", files))
    result = search(source, "word", max_counted=25)
    assert (result.file_count, result.match_count, result.files_skipped) == (3, 30, 6)
    assert any("ended after" in reason for reason in result.partial)
    whole = search(source, "word", max_counted=90)  # which is all there is
    assert (whole.file_count, whole.files_skipped, whole.partial) == (9, 0, ())


@pytest.mark.parametrize("most", [3, best.FILES_MAX + 1])
def test_lines_made_late_are_those_made_at_once(tree, local, most):
    """The score of a file is that of its best line, whenever its lines are made."""
    texts = ("word\n", "a word\nsword\n", "def word():\n  words\n", " wordy\nx\nword_\n", "a.word")
    files = {f"f{n}.py": text for n, text in enumerate(texts)}
    result = search(local(tree("one", files)), "word", max_files=most)
    assert len(result.files) == min(most, len(texts))
    for file in result.files:
        best_line = max(line.score for line in file.lines)
        assert file.score == scores.of_file(file.path, best_line, 1)
    assert result.files[0].path == b"f2.py"
