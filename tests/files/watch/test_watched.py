"""The map of watches and folders, against one that searches all it knows."""

from __future__ import annotations

import random

from triseek.files.watch.watched import Watched, above


def test_a_dropped_folder_takes_those_below_along():
    watched = Watched()
    for watch, path in enumerate([b"", b"a", b"a/b", b"a/b/c", b"ab", b"a-"]):
        watched.add(path, watch)
    assert sorted(watched.drop(b"a")) == [1, 2, 3]
    assert watched.drop(b"a") == []
    assert [watched.paths(watch) for watch in range(6)] == [(b"",), (), (), (), (b"ab",), (b"a-",)]
    watched.add(b"a", 9)
    assert watched.drop(b"a") == [9]
    assert len(watched) == 3


def test_a_watch_of_two_paths_ends_with_the_second():
    watched = Watched()
    for path, watch in ((b"", 1), (b"a", 2), (b"b", 2)):
        watched.add(path, watch)
    assert len(watched) == 2
    assert watched.drop(b"a") == []
    assert watched.paths(2) == (b"b",)
    assert watched.drop(b"b") == [2]
    assert not watched.holds(2)


def test_any_history_gives_what_a_search_of_all_gives():
    dice = random.Random(3)
    watched, plain = Watched(), {b"": 0}
    watched.add(b"", 0)
    for _ in range(5000):
        path = dice.choice(sorted(plain))
        if dice.random() < 0.8 or not path:
            path = (path + b"/" if path else b"") + dice.choice([b"x", b"y", b"x-"])
            if path.count(b"/") < 6 and path not in watched:
                plain[path] = dice.randrange(40)
                watched.add(path, plain[path])
            continue
        below = {p for p in plain if p == path or p.startswith(path + b"/")}
        unused = {plain.pop(p) for p in below} - set(plain.values())
        assert set(watched.drop(path)) == unused
        for watch in range(40):
            assert set(watched.paths(watch)) == {p for p in plain if plain[p] == watch}
        assert len(watched) == len(set(plain.values()))
    assert all(above(path) in watched for path in plain)
