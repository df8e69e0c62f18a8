"""What one file says of a goal."""

from __future__ import annotations

from triseek.engine.context_pack import evidence, terms

TEXT = b"""import retry

# when to try again
def retry_delay(attempt):
    return retries * attempt

class Other:
    pass
"""


def said(goal: str, text: bytes = TEXT, path: bytes = b"src/net/retry_rules.py"):
    read = terms.read(goal)
    return read, evidence.gather(path, text, read, [1.0] * len(read.terms))


def test_occurrences_are_counted_by_where_they_stand():
    goal, found = said("retry")

    assert [term.word for term in goal.terms] == ["retry"]
    assert found.text == [3.0]
    assert found.definitions == [1.0]
    assert found.name == [0.5]
    assert found.folders == [0.0]
    assert found.size == len(TEXT)


def test_a_name_as_written_is_the_whole_of_a_files_name():
    goal, found = said("retry_rules broke")

    assert found.name[[term.word for term in goal.terms].index("retry_rules")] == 1.0


def test_the_line_that_defines_says_most():
    goal, found = said("retry delay")
    weights = [1.0] * len(goal.terms)

    best = max(found.lines, key=lambda line: line.score(weights))

    assert TEXT[best.start : best.end] == b"def retry_delay(attempt):"
    assert TEXT[best.first :].startswith(b"retry_delay")


def test_pairs_are_found_in_prose_and_in_names():
    text = b"retry delay\nretryDelay\nretry_delays\nretry the delay\n"

    assert said("retry delay", text)[1].pairs == [3]


def test_phrases_are_found_as_they_stand():
    assert said('"return retries * attempt"')[1].phrases == [1]


def test_terms_are_near_within_a_function_and_not_beyond():
    near = b"alpha\n" + b"x\n" * 100 + b"beta\n"
    far = b"alpha\n" + b"x\n" * evidence.WINDOW_BYTES + b"beta\n"

    assert said("alpha beta", near)[1].near == [0, 1]
    assert len(said("alpha beta", far)[1].near) == 1


def test_a_file_without_any_of_it_says_nothing():
    _, found = said("zygomorphic", b"", b"a.py")

    assert (found.text, found.lines, found.near) == ([0.0], [], [])
