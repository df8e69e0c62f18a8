"""bench tokens: answers are compared before they are counted, and its page is what it recorded."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from bench import record
from bench.model import Faulty
from bench.tokens import report
from bench.tokens.answers import compare, printed, shown
from bench.tokens.questions import CLASSES, FEW, Question, asked, questions
from tests.app.digests import digest

DOCS = Path(record.__file__).parents[1] / "docs" / "benchmarks"
TEXT = "3 matches in 2 files\na/b.py\n3,9:self.close()\n12:close\nc.py (1 of 40)\n7:close: 5:x\n"
RG = "a/b.py:3:    self.close()\na/b.py:9:self.close()\nc.py:7:close: 5:x\n"


def measured():
    newest = max(record.FOLDER.glob("*-tokens/tokens.json"))
    return json.loads(newest.read_text(encoding="utf-8"))


def test_the_lines_of_a_digest_are_read():
    assert shown(TEXT) == {("a/b.py", 3), ("a/b.py", 9), ("a/b.py", 12), ("c.py", 7)}
    assert printed(RG) == {("a/b.py", 3), ("a/b.py", 9), ("c.py", 7)}


def test_they_are_read_as_our_digest_writes_them():
    lines = [{"line": number, "preview": "    x = 1"} for number in (4, 8)]
    answer = {
        "files_with_matches": 1, "total_line_matches": 9,
        "results": [{"path": "a.py", "matches": lines, "line_matches": 9}],
    }  # fmt: skip

    assert shown(digest("search_content", {"query": "x"}, answer)) == {("a.py", 4), ("a.py", 8)}


def test_an_answer_that_lacks_a_line_is_not_counted():
    question = Question("close", RG + "d.py:1:close\n")

    with pytest.raises(Faulty, match="lacks"):
        compare(question, TEXT.replace("3 matches", "4 matches"), whole=True)
    with pytest.raises(Faulty, match="rg has 4 lines"):
        compare(question, TEXT, whole=False)
    compare(Question("close", RG), TEXT, whole=True)


@pytest.mark.rg
def test_questions_are_drawn_by_the_lines_that_rg_prints(tmp_path, rg):
    for low, high, number in CLASSES:
        for at in range(number):
            name = f"name_{'abcdefgh'[at]}_of_{low_word(low)}_lines"
            lines = "".join(f"call({name})\n" for _ in range((low + high) // 2))
            (tmp_path / f"{name}.py").write_text(lines + "plain 0123 words\n" * 3)

    drawn = questions(tmp_path, rg, "seed")

    assert drawn == questions(tmp_path, rg, "seed")
    assert len(drawn) == sum(number for _, _, number in CLASSES)
    assert [question.lines for question in drawn] == [
        (low + high) // 2 for low, high, number in CLASSES for _ in range(number)
    ]
    (tmp_path / "name_a_of_b_lines.py").unlink()
    with pytest.raises(Faulty, match="too few"):
        questions(tmp_path, rg, "seed")


def low_word(low: int) -> str:
    """A word for a number: names of several words have no digits."""
    return "".join("abcdefghij"[int(digit)] for digit in str(low))


@pytest.mark.rg
def test_rg_is_asked_as_an_agents_shell_asks(tmp_path, rg):
    (tmp_path / "a.py").write_text("one\n  two_words\n")

    assert asked(tmp_path, rg, "two_words") == Question("two_words", "a.py:2:  two_words\n")


def test_the_page_is_of_the_newest_record():
    assert (DOCS / "tokens.md").read_text(encoding="utf-8") == report.page(measured())


def test_sixty_questions_of_three_repositories_were_asked():
    rows = [row for one in measured()["repositories"] for row in one["questions"]]

    assert len(rows) == 60
    assert sum(row["lines"] <= FEW for row in rows) == 45
    assert all(set(row["seen"]) == set(report.TITLES) for row in rows)


@pytest.mark.parametrize("half", [0, 1])
def test_a_missed_budget_is_called_missed(half):
    results = copy.deepcopy(measured())
    rows = [row for one in results["repositories"] for row in one["questions"]]
    limit = report.halves(rows)[half]
    for row in limit.rows:
        row["seen"]["codex"] = row["rg"] * limit.most * 1.01

    assert f"{limit.most} times rg's: **missed**" in report.page(results)
    assert f"{limit.most} times rg's: met" in report.page(measured())


def test_a_resume_that_costs_more_than_its_text_is_called_missed():
    results = copy.deepcopy(measured())
    for one in results["repositories"]:
        counts = one["agents"]["codex"]["session_resume"]
        counts["seen"] = counts["text"] * report.RESUME_MAX * 1.01

    assert "times its text: **missed**" in report.page(results)
    assert "times its text: met" in report.page(measured())
