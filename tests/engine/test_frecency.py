"""Scores decay, stay bounded, have one owner, and are not fed by being shown."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.frecency_contents import top
from triseek import errors
from triseek.engine.frecency import (
    FILES_MAX,
    FLOOR,
    HALF_LIFE_S,
    HIT_CEILING,
    HIT_FILES_MAX,
    NAME,
    SCORE_MAX,
    WEIGHTS,
    Frecency,
)
from triseek.store import atomic

DAY_S = 86_400.0
START_S = 1_790_000_000.0


class Clock:
    def __init__(self) -> None:
        self.now = START_S

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def frecency(tmp_path, clock):
    with Frecency(tmp_path, clock) as opened:
        opened.claim()
        yield opened


def score(frecency, path):
    return float(frecency.score([path])[0])


def test_a_score_halves_in_seven_days_and_grows_by_its_weight(frecency, clock):
    frecency.touch("select", [b"a"])
    assert score(frecency, b"a") == 3.0
    clock.now += 7 * DAY_S
    assert score(frecency, b"a") == pytest.approx(1.5)
    frecency.touch("read", [b"a"])
    clock.now += 14 * DAY_S

    assert score(frecency, b"a") == pytest.approx(3.5 / 4)
    assert score(frecency, b"unknown") == 0


@given(
    st.lists(
        st.tuples(st.sampled_from(sorted(WEIGHTS)), st.floats(0, 30 * DAY_S)), max_size=20
    )
)  # fmt: skip
def test_a_score_is_the_sum_of_its_decayed_weights(tmp_path_factory, uses):
    clock = Clock()
    with Frecency(tmp_path_factory.mktemp("index"), clock) as frecency:
        frecency.claim()
        told = []
        for use, pause in uses:
            frecency.touch(use, [b"a"])
            told.append((clock.now, WEIGHTS[use]))
            clock.now += pause

        expected = sum(weight * 2 ** ((at - clock.now) / HALF_LIFE_S) for at, weight in told)
        assert score(frecency, b"a") == pytest.approx(expected)


def test_order_is_stable_where_scores_are_equal(frecency):
    frecency.touch("read", [b"c", b"e"])
    frecency.touch("select", [b"d"])

    assert frecency.order([b"a", b"e", b"b", b"c", b"d", b"a"]) == [
        b"d", b"e", b"c", b"a", b"b", b"a",
    ]  # fmt: skip
    assert frecency.order([]) == []
    assert frecency.order([b"x", b"a"]) == [b"x", b"a"]


PATHS = st.sampled_from([b"%d" % number for number in range(12)])


def test_a_snapshot_stays_as_it_was(frecency, clock):
    frecency.touch("read", [b"a"])
    taken = frecency.snapshot()
    frecency.touch("read", [b"a", b"b"])
    clock.now += HALF_LIFE_S

    assert taken == {b"a": WEIGHTS["read"]}
    with pytest.raises(TypeError):
        taken[b"a"] = 0.0  # type: ignore[index]


@given(st.lists(PATHS), st.lists(PATHS))
def test_order_is_what_a_stable_sort_by_score_gives(tmp_path_factory, touched, given_paths):
    with Frecency(tmp_path_factory.mktemp("index"), Clock()) as frecency:
        frecency.claim()
        for path in touched:
            frecency.touch("read", [path])
        places = np.argsort(-frecency.score(given_paths), kind="stable")

        assert frecency.order(given_paths) == [given_paths[place] for place in places]


@settings(deadline=None)
@given(
    st.floats(0, 13.9 * DAY_S),
    st.lists(st.tuples(st.lists(PATHS, max_size=12), st.floats(0, DAY_S)), max_size=30),
)
def test_no_hits_lift_a_file_above_one_read_in_the_last_two_weeks(tmp_path_factory, age, answers):
    """The reference gave every returned file a point, so the first answers stayed the first."""
    clock = Clock()
    with Frecency(tmp_path_factory.mktemp("index"), clock) as frecency:
        frecency.claim()
        for paths, pause in answers:
            frecency.record_answer(paths)
            clock.now += pause
        frecency.touch("read", [b"read"])
        until = clock.now + age
        for paths, pause in answers * 3:
            frecency.record_answer(paths)
            clock.now = min(clock.now + pause, until)
        clock.now = until
        for _ in range(100):
            frecency.record_answer([b"0"])

        assert top(frecency, 1)[0][0] == b"read"


def test_hits_do_not_change_how_files_in_use_stand_to_each_other(frecency):
    frecency.touch("read", [b"a", b"b"])
    for _ in range(50):
        frecency.record_answer([b"b", b"a"])

    assert frecency.score([b"a", b"b"]).tolist() == [2.0, 2.0]


def test_a_hit_counts_less_the_lower_it_ranks_and_nothing_in_a_long_answer(frecency):
    few = [b"%d" % number for number in range(HIT_FILES_MAX)]
    frecency.record_answer(few)
    frecency.record_answer([b"long/%d" % number for number in range(HIT_FILES_MAX + 1)])

    scores = frecency.score(few)
    assert (np.diff(scores) < 0).all()
    assert scores.max() <= HIT_CEILING
    assert [path for path, _ in top(frecency, 100)] == few


def test_only_the_highest_are_kept(frecency, clock):
    frecency.touch("select", [b"dear"])
    for batch in range(5):
        clock.now += 60
        frecency.touch("read", [b"%d/%d" % (batch, number) for number in range(FILES_MAX)])

    kept = top(frecency, 10 * FILES_MAX)
    assert len(kept) == FILES_MAX
    assert kept[0][0] == b"dear"
    assert {path.split(b"/")[0] for path, _ in kept[1:]} == {b"4"}


def test_what_has_decayed_to_nothing_is_not_kept(tmp_path, clock):
    with Frecency(tmp_path, clock) as frecency:
        frecency.claim()
        frecency.touch("select", [b"old"])
        clock.now += 60 * DAY_S
        assert score(frecency, b"old") < FLOOR
        frecency.touch("select", [b"new"])

    saved = atomic.read_sealed(tmp_path / NAME, most_bytes=1 << 20)
    assert list(saved["files"]) == ["new"]


def test_scores_stay_finite_whatever_is_touched_how_often(frecency):
    for _ in range(1_000):
        frecency.touch("select", [b"a"])

    assert score(frecency, b"a") == SCORE_MAX


@pytest.mark.parametrize(
    "path", [b"", b"/abs", b"a/../b", b"..", b"a\0b", b"folder/", b"x" * 5_000]
)
def test_what_names_no_file_below_a_root_is_not_counted(frecency, path):
    assert frecency.touch("select", [path]) == 0
    assert frecency.restore({path: 1.0}) == 0
    assert not frecency.dirty


def test_scores_are_read_again_as_they_were_saved(tmp_path, clock):
    odd = os.fsencode("mod\udcff\udc80.c")
    with Frecency(tmp_path, clock) as frecency:
        frecency.claim()
        frecency.touch("select", [odd, "größe.c".encode()])
        frecency.record_answer([odd, b"b"])
        before = top(frecency, 9)

    assert [path for path, _ in before] == ["größe.c".encode(), odd, b"b"]
    assert top(Frecency(tmp_path, clock), 9) == before


def test_queries_that_an_earlier_version_saved_are_not_kept(tmp_path, clock):
    query = {"at_s": 1.5, "pattern": "x", "kind": "literal", "result_paths": [], "selected": []}
    scores = {"version": 1, "files": {"a": [2.0, 0.1, clock.now]}, "recent": [query]}
    atomic.write_sealed(tmp_path / NAME, scores)

    with Frecency(tmp_path, clock) as frecency:
        frecency.claim()
        assert top(frecency, 9) == [(b"a", 2.0)]
        frecency.touch("read", [b"a"])
    assert "recent" not in atomic.read_sealed(tmp_path / NAME, most_bytes=1 << 20)


def test_nothing_is_written_until_it_is_saved_and_then_once(tmp_path, frecency):
    assert not frecency.save()
    for _ in range(10):
        frecency.record_answer([b"a"])
    assert not (tmp_path / NAME).exists()
    assert frecency.dirty

    assert frecency.save()
    assert not frecency.dirty
    assert not frecency.save()


def test_a_second_one_reads_and_its_touches_go_nowhere(tmp_path, clock, frecency):
    frecency.touch("select", [b"a"])
    frecency.save()

    with Frecency(tmp_path, clock) as second:
        second.claim()
        assert (frecency.owned, second.owned) == (True, False)
        assert second.touch("select", [b"b"]) == 0
        second.record_answer([b"b"])
        assert second.restore({b"b": 3.0}) == 0
        assert top(second, 9) == [(b"a", 3.0)]
        assert not second.save()
        frecency.touch("select", [b"a"])
        frecency.close()
        assert second.claim()
        assert top(second, 9) == [(b"a", 6.0)]


OWN = """
import sys, time
from triseek.engine.frecency import Frecency
frecency = Frecency(sys.argv[1])
frecency.claim()
frecency.touch("select", [b"saved"])
frecency.save()
frecency.touch("select", [b"lost"])
print(frecency.owned, flush=True)
time.sleep(60)
"""


def test_an_owner_that_is_killed_leaves_what_it_saved_and_no_lock(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", OWN, tmp_path], stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"True\n"
        heir = Frecency(tmp_path)
        heir.claim()
        assert not heir.owned
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()

    assert heir.claim()
    assert [path for path, _ in top(heir, 9)] == [b"saved"]
    heir.close()


def test_where_nothing_can_be_written_scores_are_empty_and_nobody_owns_them(tmp_path):
    (tmp_path / "file").write_text("")

    with Frecency(tmp_path / "file" / "index") as frecency:
        frecency.claim()
        assert not frecency.owned
        assert frecency.touch("select", [b"a"]) == 0
        assert frecency.order([b"b", b"a"]) == [b"b", b"a"]


def test_reading_alone_makes_no_file_and_no_folder(tmp_path):
    assert top(Frecency(tmp_path / "index"), 3) == []
    assert not (tmp_path / "index").exists()


def test_what_could_not_be_saved_stays_to_be_saved(tmp_path, clock):
    frecency = Frecency(tmp_path / "index", clock)
    frecency.claim()
    frecency.touch("select", [b"a"])
    (tmp_path / "index" / NAME).mkdir()
    (tmp_path / "index" / NAME / "in the way").write_text("")
    with pytest.raises(errors.StateUnwritable):
        frecency.save()
    assert frecency.dirty

    (tmp_path / "index" / NAME / "in the way").unlink()
    (tmp_path / "index" / NAME).rmdir()
    frecency.close()
    assert top(Frecency(tmp_path / "index", clock), 1) == [(b"a", 3.0)]


def test_restored_scores_count_where_they_are_higher(frecency):
    frecency.touch("select", [b"a"])
    assert frecency.restore({b"a": 1.0, b"b": 2.5, b"c": math.nan, b"d": -1, b"e": math.inf}) == 3

    assert dict(top(frecency, 9)) == {b"e": SCORE_MAX, b"a": 3.0, b"b": 2.5}


def test_a_clock_that_goes_back_makes_no_score_immortal(frecency, clock):
    clock.now += 4000 * DAY_S
    frecency.touch("select", [b"from the future"])
    clock.now = START_S
    assert score(frecency, b"from the future") == 3.0
    clock.now += 7 * DAY_S

    assert score(frecency, b"from the future") == pytest.approx(1.5)


def test_a_clock_that_goes_mad_changes_nothing(frecency, clock):
    frecency.touch("select", [b"a"])
    for mad in (math.nan, math.inf, -math.inf, -1.0):
        clock.now = mad
        assert score(frecency, b"a") == 3.0
        frecency.touch("select", [b"b"])
    clock.now = START_S

    assert top(frecency, 9) == [(b"b", 12.0), (b"a", 3.0)]


NUMBERS = st.one_of(
    st.floats(), st.integers(), st.sampled_from([10**400, True, None, "1", [], {}]),
    st.floats(0, 5), st.floats(START_S - DAY_S, START_S + 400 * DAY_S),
)  # fmt: skip
ROWS = st.one_of(st.lists(NUMBERS, min_size=3, max_size=3), st.lists(NUMBERS), NUMBERS)
NAMES = st.one_of(st.text(max_size=8), st.sampled_from(["a", "b/c", "\ud800", "../x", "/x"]))
BODIES = st.one_of(
    NUMBERS,
    st.fixed_dictionaries(
        {"version": st.sampled_from([1, 1, 1, 2, "1"])},
        optional={"files": st.one_of(st.dictionaries(NAMES, ROWS), NUMBERS)},
    ),
)


@settings(max_examples=300, deadline=None)
@given(BODIES)
def test_a_hostile_file_gives_finite_scores_and_no_error(tmp_path_factory, body):
    folder, clock = tmp_path_factory.mktemp("index"), Clock()
    write_even_nan(folder / NAME, body)

    with Frecency(folder, clock) as frecency:
        frecency.claim()
        scores = [score for _, score in top(frecency, 99)]
        assert all(FLOOR <= score <= SCORE_MAX for score in scores)
        frecency.order([b"a", b"b/c"])
        frecency.touch("select", [b"a"])
        clock.now += DAY_S
        frecency.save()
        again = Frecency(folder, clock)
        assert dict(top(again, 99)) == pytest.approx(dict(top(frecency, 99)), abs=1e-3)
    clock.now += 365 * DAY_S
    assert top(Frecency(folder, clock), 99) == []


def test_a_use_in_the_future_counts_as_one_of_now(tmp_path, clock):
    atomic.write_sealed(
        tmp_path / NAME, {"version": 1, "files": {"a": [2.0, 0.1, clock.now + 400 * DAY_S]}}
    )

    assert top(Frecency(tmp_path, clock), 9) == [(b"a", 2.0)]


def write_even_nan(path, body):
    """As `atomic.write_sealed`, with the numbers that JSON does not have and Python reads."""
    import json

    import xxhash

    text = json.dumps(body).encode()
    head = b'{"xxh3":"%s","body":' % xxhash.xxh3_64_hexdigest(text).encode()
    path.write_bytes(head + text + b"}\n")


def test_a_damaged_file_is_begun_anew(tmp_path, clock):
    with Frecency(tmp_path, clock) as frecency:
        frecency.claim()
        frecency.touch("select", [b"a"])
    data = (tmp_path / NAME).read_bytes()
    (tmp_path / NAME).write_bytes(data.replace(b"3.0", b"9.0"))
    assert atomic.read_sealed(tmp_path / NAME, most_bytes=1 << 20) is None

    with Frecency(tmp_path, clock) as frecency:
        frecency.claim()
        assert top(frecency, 9) == []
        frecency.touch("read", [b"b"])
    assert top(Frecency(tmp_path, clock), 9) == [(b"b", 2.0)]


def test_threads_lose_no_touch(frecency):
    def work():
        for _ in range(50):
            frecency.touch("read", [b"a"])
            frecency.order([b"a", b"b"])
            frecency.save()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert score(frecency, b"a") == 400.0
