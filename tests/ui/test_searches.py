"""Searches of the page: the tools' envelopes, with what is to be marked in each line."""

from __future__ import annotations

import pytest

from tests.app.contexts import context_on, search
from tests.ui.opened import Opened


def marked(match: dict) -> list[str]:
    return [match["preview"][begin:end] for begin, end in match["spans"]]


def matches(answer: dict) -> dict[str, list[list[str]]]:
    return {
        each["path"]: [marked(match) for match in each["matches"]] for each in answer["results"]
    }


def test_an_answer_is_the_tools_envelope_with_spans_and_time(opened: Opened) -> None:
    answer = opened.told("search", q="retry", case="sensitive")
    tools = search(context_on(opened.root), "retry")

    assert answer["ms"] > 0
    assert matches(answer) == {"src/retry.py": [["retry"]]}
    for match in answer["results"][0]["matches"]:
        del match["spans"]
    assert answer["results"] == tools["results"]
    assert answer["results"][0]["matches"][0]["definition"] is True
    assert set(tools) == set(answer) - {"ms"}


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (
            {"q": "retr", "case": "insensitive"},
            {"src/retry.py": [["retr"], ["retr"]], "src/notes.md": [["Retr"]]},
        ),
        ({"q": r"retr\w+\(", "mode": "regex"}, {"src/retry.py": [["retry("], ["retries("]]}),
        (
            {"q": "retry", "word": "1", "case": "smart"},
            {"src/retry.py": [["retry"]], "src/notes.md": [["Retry"]]},
        ),
        ({"q": "Retry", "case": "smart"}, {"src/notes.md": [["Retry"]]}),
        ({"q": "t", "glob": "*.txt"}, {"other.txt": [["t"]]}),
        ({"q": "später"}, {"src/notes.md": [["später"]]}),
        ({"q": "e", "glob": "*.txt"}, {"other.txt": [["e", "e"]]}),
    ],
)  # fmt: skip
def test_matches_are_marked_as_they_are_meant(opened: Opened, given: dict, found: dict) -> None:
    assert matches(opened.told("search", **given)) == found


def test_spans_count_characters_and_not_bytes(repo) -> None:
    opened = Opened(repo({"a.txt": "ä€𝄞needle und needle\n"}))

    (match,) = opened.told("search", q="needle")["results"][0]["matches"]

    assert match["spans"] == [[3, 9], [14, 20]]


def test_a_cut_line_is_marked_where_its_match_is_shown(repo) -> None:
    opened = Opened(repo({"a.txt": "x" * 500 + "needle" + "y" * 500 + "\n"}))

    (match,) = opened.told("search", q="needle")["results"][0]["matches"]

    assert marked(match) == ["needle"]


def test_names_of_files_are_found_too(opened: Opened) -> None:
    answer = opened.told("search", q="notes", kind="path")

    assert [each["path"] for each in answer["results"]] == ["src/notes.md"]
    assert answer["files_with_matches"] == 1


@pytest.mark.parametrize("case", ["sensitive", "smart"])
def test_nothing_says_what_was_searched_and_what_would_match(opened: Opened, case: str) -> None:
    answer = opened.told("search", q="RETRY(", case=case)

    assert answer["results"] == []
    assert answer["searched"]["files"] == 3
    assert answer["would_match"][0] == {"change": {"case": "insensitive"}, "files": 1, "lines": 1}


def test_a_page_is_followed_by_the_next(repo) -> None:
    opened = Opened(repo({f"{number}.txt": "needle\n" for number in range(5)}))
    first = opened.told("search", q="needle", limit=3)
    second = opened.told("search", q="needle", limit=3, offset=first["next_offset"])

    found = [each["path"] for each in (*first["results"], *second["results"])]

    assert first["truncated"] is True
    assert second["truncated"] is False
    assert sorted(found) == [f"{number}.txt" for number in range(5)]


@pytest.mark.parametrize(
    "given",
    [
        {"q": ""}, {"q": "x" * 5000}, {"q": "(", "mode": "regex"}, {"q": "a", "mode": "sql"},
        {"q": "a", "case": "upper"}, {"q": "a", "limit": "-1"}, {"q": "a", "limit": "many"},
        {"q": "a", "offset": "1e3"}, {"q": "a", "kind": "all"}, {"q": "a", "path": "/etc"},
        {"q": "a", "word": "yes"}, {"q": "a", "glob": "["}, {"q": "", "kind": "path"},
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_said_in_one_line(opened: Opened, given: dict) -> None:
    error = opened.refused("search", **given)

    assert error["code"] == "INVALID_QUERY"
    assert "\n" not in error["message"]


def test_a_folder_that_is_gone_is_an_error_and_no_crash(opened: Opened, tmp_path) -> None:
    (tmp_path / "repo").rename(tmp_path / "away")

    answer = opened.ask("search", q="retry")

    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "REPO_NOT_DETECTED"
