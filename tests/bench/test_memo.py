"""What judges the memo can tell right from wrong, and recorded workdays find it right."""

from __future__ import annotations

import pytest

from bench.memo import replay, report
from bench.memo.truth import View, lines_of, request_of

TEXT = "".join(f"line {number}\n" for number in range(1, 41))


@pytest.mark.parametrize(
    ("shown", "first", "last", "held"),
    [
        (["line 1"], 1, 1, True),
        ([TEXT], 1, None, True),
        ([TEXT], 41, None, False),
        (["\n".join(f"{n}\tline {n}" for n in range(1, 41))], 5, 9, True),
        (["\n".join(f"{n}: line {n}" for n in range(1, 21))], 1, 21, False),
        (
            ["".join(TEXT.splitlines(keepends=True)[:20]), TEXT.partition("line 20\n")[2]],
            1,
            40,
            True,
        ),
        ([TEXT.replace("line 7\n", "line seven\n")], 1, 40, False),
        (list(TEXT.splitlines()), 1, 40, False),
    ],
)
def test_a_view_holds_lines_that_stand_in_it_in_runs(shown, first, last, held):
    assert View(shown).holds(lines_of(TEXT, first, last)) is held


def test_an_id_names_the_request_that_was_answered():
    assert request_of("toolu_00001201") == "12"
    assert request_of("call_00000300") == "3"
    assert request_of("exec-0") == ""


def test_a_recorded_workday_has_nothing_denied_wrongly():
    path = min(replay.streams(), key=lambda path: path.stat().st_size)

    told = replay.replay(path)

    assert told["faults"] == []
    assert 0 < told["denied"] <= told["redundant"] < told["reads"]
    assert told["client"] in report.page([told])


def test_what_a_model_was_not_sent_is_a_wrong_denial(tmp_path):
    path = min(replay.streams(), key=lambda path: path.stat().st_size)
    stream = replay.load(path)
    stream["texts"] = ["nothing" for _ in stream["texts"]]
    (tmp_path / "s.json.xz").write_bytes(replay.packed(stream))

    told = replay.replay(tmp_path / "s.json.xz")

    assert told["wrong"] == told["denied"] > 0
    assert told["false_fresh"] == told["fresh"] > 0
