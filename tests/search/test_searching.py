"""search_content and search_path_and_content, on trees small enough to know."""

from __future__ import annotations

import json
import os
import random

import pytest

from tests.app.contexts import (
    bare_context,
    context_by,
    context_on,
    indexed,
    lines,
    paths,
    search,
    search_in,
)
from triseek.engine.ranking.ranked import BINARY_MAX
from triseek.errors import Cancelled, InvalidQuery, InvalidRequest, RepoNotDetected
from triseek.files.containment import PathOutside, PathRefused
from triseek.model import token_estimate
from triseek.model.call import Call
from triseek.search.searching import below

TREE = {
    "src/auth/router.rs": "use std;\npub fn route(x: u8) -> Result<u8> {\n    route(x)\n}\n",
    "src/lib.rs": "mod auth;\nfn main() { route(1) }\n",
    "tests/route.rs": "fn test_route() { route(2) }\n",
    "docs/a b.md": "Route with route.\n",
    "Makefile": "all:\n\techo route\n\techo route\n",
    "pkg/tests/x.py": "routes\n",
}


LATE_NUL = "x\n" * 70_000 + "\0\n"
"""A NUL behind what ripgrep reads at a time."""


@pytest.fixture(params=["index", "tree"])
def context(request, repo):
    return context_by(request.param, repo, TREE)


def test_an_answer_has_the_contracts_fields_and_exact_totals(context):
    told = search(context, "route", limit=2)

    assert told["version"] == "1"
    assert told["repo_root"] == context.root
    assert (told["files_with_matches"], told["total_line_matches"]) == (6, 8)
    assert (told["truncated"], told["next_offset"]) == (True, 2)
    assert told["results"][0] == {
        "path": "src/auth/router.rs",
        "matches": [
            {
                "line": 2, "column": 8, "definition": True,
                "preview": "pub fn route(x: u8) -> Result<u8> {",
            },
            {"line": 3, "column": 5, "preview": "    route(x)"},
        ],
        "reason": "content_match",
    }  # fmt: skip
    assert (told["search_id"], told["context_epoch"]) == ("search-0001", None)


def test_a_file_with_more_matches_than_are_shown_says_how_many(context):
    told = search(context, "route", limit=1)

    assert told["results"][0]["line_matches"] == 2


def test_as_many_results_as_asked_for_are_not_called_truncated(context):
    told = search(context, "route", limit=8)

    assert len(lines(told)) == 8
    assert told["truncated"] is False
    assert "next_offset" not in told


@pytest.mark.parametrize(("limit", "listed"), [(0, 1), (-7, 1), (10**30, 8), (3, 3)])
def test_a_limit_out_of_bounds_is_the_nearest_within(context, limit, listed):
    assert len(lines(search(context, "route", limit=limit))) == listed


def test_more_than_a_hundred_results_are_never_listed(repo):
    context = bare_context(os.path.realpath(repo({"a.txt": "x\n" * 150})))

    assert len(lines(search(context, "x", limit=500))) == 100


def test_behind_the_last_result_there_is_nothing_and_totals_stay(context):
    told = search(context, "route", offset=50)

    assert (told["results"], told["truncated"], told["total_line_matches"]) == ([], False, 8)


def test_an_offset_beyond_all_reason_is_refused(context):
    with pytest.raises(InvalidRequest):
        search(context, "route", offset=10**12)


def pages(ask, budgets=(0,), limits=(1, 2, 3, 7, 100), seed=0):
    """Every page of an answer, of sizes by chance."""
    chance, offset, told = random.Random(seed), 0, []
    while offset is not None:
        limit, budget = chance.choice(limits), chance.choice(budgets)
        told.append(ask(offset=offset, limit=limit, token_budget=budget))
        offset = told[-1].get("next_offset")
        assert (offset is not None) == told[-1]["truncated"]
    return told


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    root = tmp_path_factory.mktemp("large")
    chance = random.Random(5)
    for number in range(25):
        text = [
            chance.choice(["def needle():", "needle = 1", "x needle " + "y" * 150, "z"]) + "\n"
            for _ in range(chance.choice([1, 3, 12, 40]))
        ]
        folder = root / chance.choice(["src", "tests", "docs"])
        folder.mkdir(exist_ok=True)
        (folder / f"f{number}.py").write_text("".join(text))
    return str(root.resolve())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("more", [{}, {"context": 2}], ids=["bare", "context"])
def test_pages_of_any_size_and_budget_give_each_line_once(large, seed, more):
    context = bare_context(large)

    def ask(**page):
        return search(context, "needle", **more, **page)

    told = pages(ask, budgets=(0, 200, 300, 700), seed=seed)
    found = [line for page in told for line in lines(page)]
    expected = [line for page in pages(ask, limits=(100,)) for line in lines(page)]

    assert len(found) == told[0]["total_line_matches"]
    assert len(set(found)) == len(found)
    assert set(found) == set(expected)
    for page in told:
        assert page["total_line_matches"] == told[0]["total_line_matches"]


@pytest.mark.parametrize("mode", ["files", "count"])
def test_pages_of_files_give_each_file_once(large, mode):
    context = bare_context(large)
    told = pages(
        lambda **page: search(context, "needle", output_mode=mode, **page), budgets=(0, 200, 300)
    )
    found = [path for page in told for path in paths(page)]

    assert len(set(found)) == len(found) == told[0]["files_with_matches"]


@pytest.mark.parametrize("budget", [1, 200, 500, 2_000, 0, 10**9])
def test_an_answer_keeps_to_its_budget_of_tokens(large, budget):
    told = search(bare_context(large), "needle", limit=100, context=10, token_budget=budget)

    most = min(max(budget, 200), 20_000) if budget else 8_000
    assert token_estimate.of_json(told) <= most or len(lines(told)) == 1


def test_counts_and_files(context):
    counted = search(context, "route", output_mode="count")
    listed = search(context, "route", output_mode="files")

    assert {result["path"]: result["count"] for result in counted["results"]} == {
        "src/auth/router.rs": 2, "src/lib.rs": 1, "tests/route.rs": 1, "docs/a b.md": 1,
        "Makefile": 2, "pkg/tests/x.py": 1,
    }  # fmt: skip
    assert counted["total_line_matches"] == 8
    assert paths(listed) == paths(counted)
    assert {result["reason"] for result in listed["results"]} == {"path_only"}
    assert "total_line_matches" not in listed


def test_context_is_marked_and_does_not_count(context):
    told = search(context, "Result<", context=1)

    assert [(m["line"], m.get("context", False)) for m in told["results"][0]["matches"]] == [
        (1, True), (2, False), (3, True)
    ]  # fmt: skip
    assert told["total_line_matches"] == 1


@pytest.mark.parametrize(
    ("more", "count"),
    [
        ({"case": "insensitive"}, 8), ({"word": True}, 7), ({"type": "rust"}, 4),
        ({"type": "rust,make"}, 6), ({"glob": "*.rs"}, 4), ({"glob": "*.rs !tests/**"}, 3),
        ({"path": "src"}, 3), ({"path": "src/lib.rs"}, 1), ({"path": "./src/"}, 3),
        ({"patterns": ("mod",)}, 9), ({"mode": "regex"}, 8),
        ({"glob": "src"}, 3), ({"glob": "src/"}, 3), ({"glob": "src/auth"}, 2),
        ({"glob": "./src/**"}, 3), ({"glob": "tests"}, 2), ({"glob": "Makefile"}, 2),
        ({"glob": "**"}, 8), ({"glob": "src/** !**/auth/**"}, 1), ({"glob": "src docs"}, 4),
        ({"glob": "src/** docs/**/*"}, 4), ({"glob": "src *.md"}, 4), ({"glob": "src/*"}, 1),
        ({"glob": "src/**", "path": "src/auth"}, 2), ({"glob": "nowhere/**"}, 0),
        ({"glob": "lib.rs"}, 1), ({"glob": "src/lib.rs"}, 1), ({"glob": "*outer.rs"}, 2),
    ],
    ids=str,
)  # fmt: skip
def test_options_mean_what_they_say(context, more, count):
    assert search(context, "route", **more)["total_line_matches"] == count


@pytest.mark.parametrize("glob", ["app/", "app/**", "./app/**/*", "**", "app/** !*.md"])
def test_a_glob_for_a_folder_asks_for_nothing_that_is_ignored_there(repo, glob):
    root = os.path.realpath(
        repo({"app/a.js": "route\n", "app/node_modules/b.js": "route\n", "app/.c.js": "route\n",
              ".ignore": "node_modules\n"})
    )  # fmt: skip

    assert lines(search(bare_context(root), "route", glob=glob)) == [("app/a.js", 1)]


def test_an_absolute_path_or_glob_below_the_root_is_taken(context, tmp_path):
    os.symlink(context.root, tmp_path / "link")
    for path in (f"{context.root}/src", f"{tmp_path}/link/src", f"{context.root}/x/../src"):
        assert search(context, "route", path=path)["total_line_matches"] == 3
    assert search(context, "route", glob=f"{context.root}/src/**")["total_line_matches"] == 3


@pytest.mark.parametrize(
    "path", ["..", "/", "/etc", "../repo2", "src/../../x", "src/\0", "nowhere", "src/*.rs", "~"]
)
def test_a_path_that_is_none_below_the_root_is_refused(context, path):
    with pytest.raises((InvalidQuery, PathRefused)):
        search(context, "route", path=path)


@pytest.fixture
def linked(context, tmp_path):
    """A context on a tree with links, inside and out."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("route outside\n")
    for name, target in {
        "latest": "src/auth", "src/newest": "../latest", "notes.md": "docs/a b.md", "top": "/",
        "src/beside": "../../outside", "chained": "src/beside", "leak.txt": "../outside/secret.txt",
    }.items():  # fmt: skip
        os.symlink(target, os.path.join(context.root, name))
    os.mkfifo(os.path.join(context.root, "src/fifo"))
    return context


@pytest.mark.parametrize(
    "path", ["latest", "src/newest/", "latest/router.rs", "src/newest/../auth"]
)
def test_a_link_inside_the_root_is_searched_as_what_it_leads_to(linked, path):
    assert lines(search(linked, "route", path=path)) == [
        ("src/auth/router.rs", 2), ("src/auth/router.rs", 3),
    ]  # fmt: skip
    assert lines(search(linked, "Route", path="notes.md")) == [("docs/a b.md", 1)]


@pytest.mark.parametrize(
    "path",
    ["top", "top/etc/passwd", "top/proc/self/environ", "src/beside", "src/beside/secret.txt",
     "chained/secret.txt", "leak.txt", "top/no/such/file", "/proc/self/environ", "/dev/zero"],
)  # fmt: skip
def test_a_link_that_leads_out_is_refused(linked, tmp_path, path):
    with pytest.raises(PathOutside, match="is outside of"):
        search(linked, "route", path=path)
    if not path.startswith("/") and path != "leak.txt":
        folder = path if "." not in path else os.path.dirname(path)
        with pytest.raises(PathOutside, match="is outside of"):
            search(linked, "route", glob=f"{folder}/**")
        with pytest.raises(PathOutside, match="is outside of"):
            search_in(linked, f"{folder}/", "route")


def test_a_fifo_is_refused_by_name_and_passed_over_in_folders(linked):
    for asked in ({"path": "src/fifo"}, {"glob": "src/fifo"}):
        with pytest.raises(PathRefused, match="is a FIFO"):
            search(linked, "route", **asked)
    assert search(linked, "route", path="src")["total_line_matches"] == 3
    assert search(linked, "outside")["total_line_matches"] == 0


def test_a_root_that_is_called_like_its_neighbour_is_not_inside_it(tmp_path):
    (tmp_path / "repo-old").mkdir()
    (tmp_path / "repo").mkdir()
    with pytest.raises(PathOutside):
        below(str(tmp_path / "repo"), str(tmp_path / "repo-old"))


@pytest.mark.parametrize("query", ["", "a\0b", "(", "[z-a]", "(?=x)", "x{2,1}", "\\"])
def test_a_query_that_means_nothing_is_refused(context, query):
    with pytest.raises(InvalidQuery):
        search(context, query, mode="regex")


def test_what_looks_like_an_option_is_text(context, tmp_path):
    told = search(context, f"--pre=touch {tmp_path}/x")

    assert told["total_line_matches"] == 0
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("more", [{"glob": "[z-"}, {"glob": "a{b"}, {"type": "no-such-type"}])
def test_a_glob_or_type_that_means_nothing_is_refused(context, more):
    with pytest.raises(InvalidQuery):
        search(context, "route", **more)


def test_an_empty_path_query_is_refused(context):
    with pytest.raises(InvalidQuery):
        search_in(context, "  ", "route")


@pytest.mark.parametrize("by", ["index", "tree"])
def test_a_binary_file_that_matches_is_named(repo, by):
    late = f"needle\n{LATE_NUL}needle\n"
    context = context_by(by, repo, {"bin": "a\0\nneedle\n", "late": late, "text": "needle\n"})

    named, whole = search(context, "needle", path="bin"), search(context, "needle")
    listed = search(context, "needle", path="bin", output_mode="files")

    assert (named["files_with_matches"], named["results"]) == (1, [])
    assert named["notes"] == ['bin: binary file matches (found "\\0" byte around offset 1)']
    assert paths(whole) == ["late", "text"]
    [note] = whole["notes"]
    assert note.startswith("late: WARNING: stopped searching binary file after match")
    assert "notes" not in listed


def test_a_few_binary_files_that_match_are_named(repo):
    context = context_on(repo({f"{number}": f"needle\n{LATE_NUL}" for number in range(9)}))

    assert len(search(context, "needle")["notes"]) == BINARY_MAX


def test_names_that_are_not_utf8_are_shown_as_far_as_they_can_be(repo):
    root = os.path.realpath(repo({b"caf\xe9.txt": "route\n", "ok.txt": "x\n"}))
    for context in (bare_context(root), context_on(indexed(repo, {}))):
        told = search(context, "route")

        assert paths(told) == ["caf\ufffd.txt"]
        json.dumps(told, ensure_ascii=False).encode()


def test_a_root_that_is_gone_is_an_error(tmp_path):
    with pytest.raises(RepoNotDetected):
        search(bare_context(str(tmp_path / "gone")), "x")


def test_a_call_nobody_waits_for_ends(context):
    from triseek.search.requests import SearchContentRequest
    from triseek.search.searching import search_content

    request, call = SearchContentRequest(query="route"), Call(cancelled=lambda: True)
    with pytest.raises(Cancelled):
        search_content(context.contexts["search"], request, call)


def test_time_that_is_up_is_told(context, monkeypatch):
    search(context, "route")  # reads the pattern, for which there would be no time either
    monkeypatch.setattr("triseek.search.envelopes.DEADLINE_S", -1.0)
    monkeypatch.setattr("triseek.search.envelopes.GRACE_S", 1_000.0)

    assert "stopped before the end" in search(context, "route")["incomplete"]
