"""The backend through ripgrep."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from pathlib import Path

import pytest

from tests.contracts.backend import TREE, BackendContract, by_ripgrep, run, scanning, texts
from triseek.engine.engine import Engine
from triseek.engine.search.backends import ripgrep
from triseek.engine.search.backends.ripgrep import find_rg
from triseek.engine.search.query import Query
from triseek.errors import BackendFailure, OutOfTime
from triseek.ipc import children
from triseek.model.search import PatternSpec, ScopeSpec, SearchRequest, Totals

pytestmark = [
    pytest.mark.rg,
    pytest.mark.skipif(find_rg() is None, reason="rg is not on PATH"),
]


class TestRipgrep(BackendContract):
    @classmethod
    def make(cls, root):
        return by_ripgrep(root)


FIELDS = [
    {},
    {"before": 1, "after": 1},
    {"passthru": True},
    {"passthru": True, "scope": ScopeSpec(binary=True)},
    {"line_numbers": False},
    {"mode": "count"},
    {"mode": "files"},
    {"paths": ("src", "src-b", "README.md")},
    {"scope": ScopeSpec(allowlist=True)},
    {"pattern": PatternSpec(patterns=("return",), crlf=True)},
    {"pattern": PatternSpec(patterns=(r";\n",), multiline=True)},
]


@pytest.fixture(params=FIELDS, ids=str)
def request_(request):
    return SearchRequest(**{"pattern": PatternSpec(patterns=("return",)), **request.param})


def test_an_answer_too_large_to_sort_is_the_same_answer(repo, request_):
    root = repo(TREE)
    sorted_, ordered = Totals(), Totals()

    whole = run(by_ripgrep(root), request_, sorted_)
    assert texts(run(by_ripgrep(root, held_bytes=-1), request_, ordered)) == texts(whole)
    assert [file.count for file in whole]
    assert (ordered.files_searched, ordered.lines) == (sorted_.files_searched, sorted_.lines)


@pytest.fixture
def sorted_runs(monkeypatch):
    """Whether rg sorted, for each search that it was run for."""
    start, sorted_runs = children.start, []

    def recorded(command, **options):
        if "--" in command:  # not --version
            sorted_runs.append("--sort=path" in command)
        return start(command, **options)

    monkeypatch.setattr(children, "start", recorded)
    return sorted_runs


@pytest.mark.parametrize(("count_all", "expected"), [(False, [False, True]), (True, [False])])
def test_a_search_that_ends_at_its_limit_takes_sorted_output(
    repo, sorted_runs, count_all, expected
):
    """Else `--limit 20` of a common word reads all of an answer of which it shows 20 lines."""
    root = repo({f"{number:03}.c": "needle\n" for number in range(200)})
    request = SearchRequest(
        pattern=PatternSpec(patterns=("needle",)), limit=2, count_all=count_all, engine="rg"
    )

    search = Engine(root).search(request)
    assert [path for batch in search for path in batch.paths] == [b"000.c", b"001.c"]
    assert search.totals.truncated
    assert sorted_runs == expected


def test_a_few_long_lines_do_not_make_rg_run_again(repo, sorted_runs):
    root = repo({"bundle.js": "needle " + "x" * 200_000, "z.c": "needle\n"})
    request = SearchRequest(
        pattern=PatternSpec(patterns=("needle",)), limit=1, count_all=False, engine="rg"
    )

    assert [batch.paths for batch in Engine(root).search(request)] == [[b"bundle.js"]]
    assert sorted_runs == [False]


def test_a_file_that_was_left_out_is_reported_once_when_rg_is_run_again(repo):
    root = repo({"a": "needle\n" + "x\n" * 100_000 + "\0"})
    request, totals = SearchRequest(pattern=PatternSpec(patterns=("needle",))), Totals()

    run(by_ripgrep(root, held_bytes=-1), request, totals)
    assert [skipped.path for skipped in totals.skipped] == [b"a"]


def test_what_rg_has_printed_is_the_answer_if_time_is_up_for_the_rest(repo, monkeypatch):
    def take_too_long(*_, **__):
        raise OutOfTime("over")

    monkeypatch.setattr(ripgrep, "extra_files", take_too_long)
    query = Query.of(
        repo(TREE),
        SearchRequest(pattern=PatternSpec(patterns=("return",)), scope=ScopeSpec(allowlist=True)),
    )
    batches = []
    with pytest.raises(OutOfTime):
        batches.extend(ripgrep.search(query, Totals()))

    assert [path for batch in batches for path in batch.paths]


def test_the_hidden_places_of_the_allow_list_answer_as_in_a_scan(repo):
    tree = {".github/a.yml": "return\n", ".github/.deep/b": "return\n", ".editorconfig": "return"}
    root = repo({**tree, "z": "return\n", ".secret": "return\n"})
    request = SearchRequest(
        pattern=PatternSpec(patterns=("return",)), scope=ScopeSpec(allowlist=True)
    )

    found = texts(run(by_ripgrep(root), request))
    assert [row[0] for row in found] == [b".editorconfig", b".github/a.yml", b"z"]
    assert found == texts(run(scanning(root), request))


@pytest.mark.parametrize(
    "pattern", ["--pre=touch pwned", "-e", "--", "--help", "-f/etc/passwd", "--files"]
)
def test_no_pattern_is_read_as_an_option(repo, pattern):
    root = repo({"a": f"x {pattern} y\n", "b": "nothing\n"})
    request = SearchRequest(pattern=PatternSpec(patterns=(pattern,)))

    assert [row[0] for row in texts(run(by_ripgrep(root), request))] == [b"a"]
    assert sorted(os.listdir(root)) == ["a", "b"]


def test_no_path_or_glob_is_read_as_an_option(repo):
    root = repo({"--files/a": "needle\n", "-v": "needle\n", "b": "needle\n"})
    spec = PatternSpec(patterns=("needle",))
    for fields, expected in (
        ({"paths": ("--files", "-v")}, [b"--files/a", b"-v"]),
        ({"scope": ScopeSpec(globs=("-v",))}, [b"-v"]),
    ):
        found = run(by_ripgrep(root), SearchRequest(pattern=spec, **fields))
        assert [file.path for file in found] == expected


def test_a_user_configuration_changes_nothing(repo, tmp_path, monkeypatch):
    (tmp_path / "ripgreprc").write_text("--invert-match\n--hidden\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "ripgreprc"))
    root = repo({"a": "needle\nhay\n", ".h": "needle\n"})
    request = SearchRequest(pattern=PatternSpec(patterns=("needle",)))

    assert [row[4] for row in texts(run(by_ripgrep(root), request))] == [b"needle\n"]


@pytest.mark.parametrize(
    "pattern",
    ["if \\(x\\) {", "{", "a{b}", "[{]x{2}", r"\p{L}{2}\w {", "}", r"\({1}", r"(?x) \( {1,2} | {"],
)
def test_braces_that_repeat_nothing_are_text_for_rg_too(repo, pattern):
    root = repo({"a": "if (x) {\n{xx\na{b}\nabc {\n", "b": "x\n"})
    request = SearchRequest(pattern=PatternSpec(patterns=(pattern,)))

    assert texts(run(by_ripgrep(root), request)) == texts(run(scanning(root), request)) != []


def test_an_invalid_glob_with_a_line_separator_is_no_failure(repo):
    root = repo({"a": "needle\n"})
    (Path(root).parent / ".gitignore").write_text("a\u2028{\n")
    (Path(root).parent / ".git").mkdir()
    request = SearchRequest(pattern=PatternSpec(patterns=("needle",)))

    assert texts(run(by_ripgrep(root), request)) == texts(run(scanning(root), request)) != []


def test_a_loop_in_a_folder_whose_name_has_a_line_end_is_no_failure(repo):
    root = repo({"new\nline/a": "needle\n"})
    (Path(root) / "new\nline" / "loop").symlink_to("..")
    request = SearchRequest(pattern=PatternSpec(patterns=("needle",)), scope=ScopeSpec(follow=True))

    assert texts(run(by_ripgrep(root), request)) == texts(run(scanning(root), request)) != []


def test_an_rg_that_fails_gives_its_first_line(repo, tmp_path, monkeypatch):
    program = tmp_path / "bin" / "rg"
    program.parent.mkdir()
    program.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo ripgrep 15.1.0 && exit 0\n'
        "echo 'rg: out of luck' >&2; echo more >&2; exit 2\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    request = SearchRequest(pattern=PatternSpec(patterns=("a",)))

    with pytest.raises(BackendFailure, match=r"^rg: out of luck$"):
        run(by_ripgrep(repo({"a": "a"})), request)


def test_without_rg_on_path_the_backend_fails(repo, monkeypatch):
    monkeypatch.setenv("PATH", "")

    with pytest.raises(BackendFailure, match="not on PATH"):
        run(by_ripgrep(repo({"a": "a"})), SearchRequest(pattern=PatternSpec(patterns=("a",))))


def test_without_a_temporary_folder_the_backend_fails_so_that_another_is_taken(repo, monkeypatch):
    root = repo(TREE)
    monkeypatch.setattr(tempfile, "tempdir", f"{root}/not there")
    with pytest.raises(BackendFailure, match="no temporary file"):
        run(by_ripgrep(root), SearchRequest(pattern=PatternSpec(patterns=("return",))), Totals())


@pytest.mark.parametrize(
    ("version", "engine", "backend"),
    [("14.1.1", "auto", "direct_scan"), ("15.0.0", "auto", "ripgrep"), ("14.1.1", "rg", "ripgrep")],
)
def test_an_older_rg_answers_only_where_it_is_asked_for(
    version, engine, backend, repo, tmp_path, monkeypatch
):
    """Its ignore rules of parents leave out files that are listed now."""
    real = shutil.which("rg")
    script = tmp_path / "bin" / "rg"
    script.parent.mkdir()
    said = f'[ "$1" = --version ] && echo "ripgrep {version}" && exit'
    script.write_text(f'#!/bin/sh\n{said}\nexec {shlex.quote(real)} "$@"\n')
    script.chmod(0o755)
    root = repo({"a": "needle\n"})
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
    request = SearchRequest(pattern=PatternSpec(patterns=("needle",)), engine=engine)
    search = Engine(root).search(request)
    assert [path for batch in search for path in batch.paths] == [b"a"]
    assert search.route.backend == backend
