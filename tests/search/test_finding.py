"""find_files: words of a path, or a glob."""

from __future__ import annotations

import os

import pytest

from tests.app.contexts import bare_context, context_by, find, paths
from triseek.errors import InvalidQuery

TREE = {
    "src/auth/router.rs": "", "src/router.rs": "", "src/router/mod.rs": "",
    "tests/router_test.rs": "", "vendor/x/router.rs": "", "docs/Router.md": "",
    "src/auth/other.rs": "", ".github/router.yml": "",
}  # fmt: skip


@pytest.fixture(params=["index", "tree"])
def context(request, repo):
    return context_by(request.param, repo, TREE)


def test_the_contracts_example(context):
    told = find(context, "router auth")

    assert told["results"] == [{"path": "src/auth/router.rs", "reason": "path_match"}]
    assert (told["files_with_matches"], told["total_line_matches"]) == (1, 0)
    assert told["truncated"] is False


def test_the_nearest_name_comes_first_and_among_equals_source(context):
    assert paths(find(context, "router")) == [
        "src/auth/router.rs", "src/router.rs", "docs/Router.md", "vendor/x/router.rs",
        ".github/router.yml", "tests/router_test.rs", "src/router/mod.rs",
    ]  # fmt: skip


@pytest.mark.parametrize("size", [1, 2, 5])
def test_pages_give_every_file_once_in_one_order(context, size):
    told, offset = [], 0
    while offset is not None:
        page = find(context, "r", limit=size, offset=offset)
        told += paths(page)
        offset = page.get("next_offset")
        assert page["truncated"] == (offset is not None)

    assert told == paths(find(context, "r", limit=100))


def test_a_glob_is_one_by_its_signs(context):
    assert sorted(paths(find(context, "src/**/*.rs"))) == [
        "src/auth/other.rs", "src/auth/router.rs", "src/router.rs", "src/router/mod.rs"
    ]  # fmt: skip
    assert paths(find(context, "*.{md,yml}"))


def test_no_file_is_an_answer_with_a_next_step(context):
    told = find(context, "router nowhere")

    assert (told["results"], told["files_with_matches"]) == ([], 0)
    assert "fewer" in told["next_step"]


@pytest.mark.parametrize("query", ["", "  ", "a\0b", "src/[z-"])
def test_a_query_that_means_nothing_is_refused(context, query):
    with pytest.raises(InvalidQuery):
        find(context, query)


def test_any_offset_and_limit_are_taken_as_the_nearest_that_make_sense(context):
    assert find(context, "router", offset=-5, limit=-1)["next_offset"] == 1
    assert find(context, "router", offset=10**30)["results"] == []


def test_a_long_list_is_cut_to_the_budget_and_nothing_is_left_out(repo):
    files = {f"{'deep/' * 45}{'n' * 180}{number:03}.txt": "" for number in range(120)}
    context = bare_context(os.path.realpath(repo(files)))
    told, offset = [], 0
    while offset is not None:
        page = find(context, "txt", limit=100, offset=offset)
        told += paths(page)
        offset = page.get("next_offset")

    assert len(set(told)) == len(told) == 120
