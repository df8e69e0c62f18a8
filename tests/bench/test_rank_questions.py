"""bench rank --questions: questions from small repositories, and where their files are shown."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from bench.rank_questions import make, measure, report, source_tree
from bench.rank_questions.source_tree import Level

pytestmark = pytest.mark.skipif(not shutil.which("ctags"), reason="needs universal-ctags")

PYTHON = {
    "app/parse_url.py": "LIMIT_BYTES = 1\nclass ParseUrl:\n    def unsplit(self):\n        pass\n",
    "app/retry/policy.py": "def backoff_time(n):\n    found = n\n    return found\n",
    "app/other.py": "class Other:\n    def ParseUrl(self):\n        return backoff_time(1)\n",
    "tests/retry/test_policy.py": "def test_backoff_time_grows():\n    pass\n",
    "CHANGES.rst": "``app.parse_url.ParseUrl()``, unsplit, backoff_time in app.retry.policy.\n",
}  # fmt: skip


def _asked(root, language="Python", most=9):
    return make.questions("small", source_tree.read(Path(root), language), most, most)


def _triples(asked, tool):
    return {(one.source, one.query, one.path) for one in asked if one.tool == tool}


def test_each_source_gives_searches_of_its_own(repo):
    assert _triples(_asked(repo(PYTHON)), "search_content") == {
        ("changelogs", "ParseUrl", "app/parse_url.py"),  # the class, not the method of that name
        ("changelogs", "backoff_time", "app/retry/policy.py"),
        ("ctags", "LIMIT_BYTES", "app/parse_url.py"),
        ("ctags", "unsplit", "app/parse_url.py"),
        ("ctags", "Other", "app/other.py"),
        ("contested", "ParseUrl", "app/parse_url.py"),
    }


def test_a_test_is_asked_for_what_its_name_begins_with(repo):
    files = {**PYTHON, "CHANGES.rst": ""}

    asked = _triples(_asked(repo(files)), "search_content")

    assert ("tests", "backoff_time", "app/retry/policy.py") in asked


def test_files_are_asked_for_by_name_folder_and_module(repo):
    assert _triples(_asked(repo(PYTHON)), "find_files") == {
        ("changelogs", "ParseUrl", "app/parse_url.py"),
        ("changelogs", "parse_url", "app/parse_url.py"),
        ("changelogs", "retry policy", "app/retry/policy.py"),
        ("tests", "retry policy", "app/retry/policy.py"),
        ("ctags", "Other", "app/other.py"),
    } - {("tests", "retry policy", "app/retry/policy.py")}  # a changelog drew it first


def test_a_name_that_two_files_define_so_means_none(repo):
    files = {"a.py": "class Thing: pass\n", "b.py": "class Thing: pass\nclass Alone: pass\n"}

    asked = _triples(_asked(repo(files)), "search_content")

    assert asked == {("ctags", "Alone", "b.py")}


@pytest.mark.parametrize(
    ("language", "name", "text", "level"),
    [
        ("Go", "a.go", "package p\n\ntype Name struct {\n\tSize int\n}\n", Level.TYPE),
        ("Go", "a.go", "package p\n\nfunc (o Owner) Name() {}\n", Level.MEMBER),
        ("Go", "a.go", "package p\n\nfunc Name() {}\n", Level.FUNCTION),
        ("TypeScript", "a.ts", "export interface Name {\n  size: number\n}\n", Level.TYPE),
        ("TypeScript", "a.ts", "export const Name = 1\n", Level.VALUE),
        ("TypeScript", "a.ts", "import {\n  type Name,\n} from './b'\n", None),
        ("TypeScript", "a.ts", "function outer() {\n  const Name = 1\n}\n", None),
    ],
)
def test_levels_of_definitions(repo, language, name, text, level):
    tree = source_tree.read(Path(repo({name: text})), language)

    levels = [one.level for one in tree.definitions if one.name == "Name"]

    assert levels == ([] if level is None else [level])


def test_tests_docs_and_tools_are_no_sources(repo):
    paths = ["a.py", "docs/conf.py", "tests/helper.py", "test_a.py", "tools/make.py", "x_pb2.py"]

    tree = source_tree.read(Path(repo(dict.fromkeys(paths, "x = 1\n"))), "Python")

    assert tree.sources == ["a.py"]
    assert tree.tests == ["test_a.py", "tests/helper.py"]


def test_the_same_tree_gives_the_same_questions(repo):
    files = {f"m{n}.py": f"class Name{n}: pass\n" for n in range(40)}

    first, again = _asked(repo(files), most=3), _asked(repo(files), most=3)

    assert make.digest(first) == make.digest(again)
    assert len([one for one in first if one.tool == "search_content"]) == 1  # a third: types


@pytest.mark.long
def test_a_half_is_put_to_a_server_and_recorded(repo, tmp_path, monkeypatch):
    projects = tmp_path / "projects.toml"
    projects.write_text(
        "searches = 9\nfind_files = 9\n"
        '[small]\nhalf = "tuning"\nlanguage = "Python"\ntree = { kind = "git", version = "v1" }\n'
    )
    monkeypatch.setattr(measure, "_FILE", projects)
    progress = type("Silent", (), {"say": lambda *_: None})()

    results = measure.run("tuning", {"small": Path(repo(PYTHON))}, None, progress)

    assert {one["this"] for one in results["projects"][0]["questions"]} == {1}
    assert list(report.misses(results)) == []
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / report.PAGE).write_text("Words.\n\n")
    page = report.write(results, {"cpu": "any"}, tmp_path / "record", docs).read_text()
    assert page.startswith("Words.\n\n<!-- generated")
    assert "| **small** | 5 | 1.000 | 1.000 |" in page
    recorded = json.loads((tmp_path / "record" / "results.json").read_text())
    assert recorded["projects"][0]["questions"][0] == {
        "tool": "search_content", "source": "changelogs", "this": 1,
    }  # fmt: skip
    assert report.text(recorded) == report.text(results)
