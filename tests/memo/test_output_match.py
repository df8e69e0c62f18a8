"""Lines count as shown only where the output bears it out."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triseek.memo.look import FileText
from triseek.memo.output_match import Claim, shown

CODE = "".join(f"    value_{number} = compute({number})\n" for number in range(1, 21))


def of(text, name="/f"):
    return FileText(name, text.encode())


def whole(text, name="/f"):
    seen = of(text, name)
    return Claim(seen, 1, seen.lines)


def lines(text, first, last):
    return "".join(text.splitlines(keepends=True)[first - 1 : last])


def test_an_output_that_is_the_file_shows_all_of_it():
    assert shown(CODE, [whole(CODE)]) == [((1, 20),)]
    assert shown(CODE.rstrip("\n"), [whole(CODE)]) == [((1, 20),)]


def test_line_ends_and_marks_do_not_matter():
    assert shown("a\nb\n", [whole("a\r\nb\r\n")]) == [((1, 2),)]
    assert shown("a\r\nb", [whole("a\nb\n")]) == [((1, 2),)]
    assert shown("a\nb", [whole("\ufeffa\nb\n")]) == [((1, 2),)]


def test_a_part_shows_that_part():
    claim = Claim(of(CODE), 5, 9)

    assert shown(lines(CODE, 5, 9), [claim]) == [((5, 9),)]
    assert shown(lines(CODE, 6, 10), [claim]) == [()]
    assert shown(lines(CODE, 1, 5), [claim]) == [()]


def test_what_stands_behind_does_not_matter():
    assert shown(CODE + "\n[system reminder]\n", [whole(CODE)]) == [((1, 20),)]


@pytest.mark.parametrize("output", ["", "\n", "cat: f: No such file or directory", "(binary)"])
def test_another_output_shows_nothing(output):
    assert shown(output, [whole(CODE)]) == [()]


def test_of_an_output_cut_at_its_end_the_beginning_counts():
    cut = lines(CODE, 1, 7) + "    value_8 = com\n[truncated]"

    assert shown(cut, [whole(CODE)]) == [((1, 7),)]
    assert shown(CODE[: len(lines(CODE, 1, 7)) + 5], [whole(CODE)]) == [((1, 7),)]


def test_of_an_output_cut_in_its_middle_both_ends_count():
    cut = lines(CODE, 1, 4) + "…9 lines omitted…\n" + lines(CODE, 14, 20)

    assert shown(cut, [whole(CODE)]) == [((1, 4), (14, 20))]


def test_of_an_output_that_lost_its_beginning_the_end_counts():
    assert shown("[tail]\n" + lines(CODE, 14, 20), [whole(CODE)]) == [((14, 20),)]


def test_a_long_line_that_was_cut_is_not_shown():
    long = "first line\n" + "x" * 5000 + "\nlast line\n"
    cut = "first line\n" + "x" * 2000 + "...\nlast line\n"

    assert shown(cut, [whole(long)]) == [((1, 1), (3, 3))]


def test_brackets_and_blank_lines_at_a_cut_prove_nothing():
    text = "{\n\n}\n\nfirst real line\n}\n\nsecond real line\n}\n"

    assert shown("{\n\n}\n[cut]", [whole(text)]) == [()]
    assert shown("[cut]\n}\n", [whole(text)]) == [()]
    assert shown("{\n\n}\n\n[cut]\n\n}", [whole(text)]) == [()]


def test_a_line_of_the_output_counts_once():
    text = "start of it\n}\nmiddle of it\n}\n"

    assert shown("start of it\n}\n", [whole(text)]) == [((1, 2),)]


def test_blank_lines_next_to_a_cut_may_be_the_cuts():
    text = "first real line\n\nmore\n\nlast real line\n"

    assert shown("first real line\n\n[cut]\n\nlast real line\n", [whole(text)]) == [
        ((1, 1), (5, 5))
    ]


A, B, C = (
    "".join(f"{name} has line {number}\n" for number in range(1, 6)) for name in ("a", "b", "c")
)
CLAIMS = [whole(A, "/a"), whole(B, "/b"), whole(C, "/c")]
ALL = [((1, 5),)] * 3


def test_several_files_stand_one_after_the_other():
    assert shown(A + B + C, CLAIMS) == ALL
    assert shown(B + A + C, CLAIMS)[0] == ()


def test_headers_of_head_and_tail_are_passed_over():
    output = f"==> /a <==\n{A}\n==> /b <==\n{B}\n==> /c <==\n{C}"

    assert shown(output, CLAIMS) == ALL
    assert shown(f"==> a <==\n{A}", CLAIMS[:1]) == ALL[:1]
    cut = f"==> /a <==\n{A}\n==> /b <==\nb has line 1\n[cut]\nb has line 5\n\n==> /c <==\n{C}"
    assert shown(cut, CLAIMS) == [((1, 5),), ((1, 1), (5, 5)), ((1, 5),)]


def test_a_header_in_a_file_is_a_line_of_it():
    text = "==> a <==\nsome other line\n"

    assert shown(text, [whole(text)]) == [((1, 2),)]


def test_of_several_files_cut_in_the_middle_the_ends_count():
    cut = lines(A, 1, 3) + "[…]\n" + lines(C, 4, 5)

    assert shown(cut, CLAIMS) == [((1, 3),), (), ((4, 5),)]
    assert shown(A + lines(B, 1, 2) + "[…]", CLAIMS) == [((1, 5),), ((1, 2),), ()]


def test_a_file_that_does_not_end_its_last_line_is_not_taken_for_the_next():
    text = A.rstrip("\n")
    found = shown(text + B, [whole(text, "/a"), whole(B, "/b")])

    assert found == [((1, 4),), ((2, 5),)]


def test_a_file_that_ended_up_alone_is_not_taken_for_one_that_looks_like_its_end():
    one, other = "}\n", "something long\n}\n"

    assert shown("}\n", [whole(one, "/a"), whole(other, "/b")]) == [(), ()]


FEW = st.sampled_from(["", "}", "x", "return None", "alpha beta", "gamma delta", "epsilon"])


@settings(derandomize=True, max_examples=100)
@given(st.lists(FEW, min_size=1, max_size=12), st.data())
def test_no_line_counts_that_is_not_there(texts, data):
    """Whatever was cut out of it, no line is credited that was not left in, but for twins."""
    first = data.draw(st.integers(0, len(texts)))
    last = data.draw(st.integers(first, len(texts)))
    notice = data.draw(st.sampled_from([[], ["[cut]"], ["", "[cut]", ""]]))
    left = {*range(1, first + 1), *range(last + 1, len(texts) + 1)}
    output = [*texts[:first], *notice, *texts[last:]]
    [found] = shown("\n".join(output) + "\n", [whole("".join(text + "\n" for text in texts))])
    credited = {line for begin, end in found for line in range(begin, end + 1)}

    if first < last:
        # A line may stand there by a twin of it, but where one is told by a line of its own.
        assert all(line in left or texts[line - 1] in output for line in credited)
        assert len(credited) <= len(output)
    else:
        assert notice or credited == left
