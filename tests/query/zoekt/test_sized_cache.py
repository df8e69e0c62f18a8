"""What is made of texts is kept, up to a total length of the texts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from triseek.query.zoekt import go_regexp
from triseek.query.zoekt.sized_cache import SizedCache


def made_again(cache: SizedCache[str], key: str, length: int) -> bool:
    made: list[str] = []

    def make() -> str:
        made.append(key)
        return key

    assert cache.get(key, length, make) == key
    return bool(made)


def test_the_least_recently_used_makes_room() -> None:
    cache: SizedCache[str] = SizedCache(1_000)
    assert [made_again(cache, key, 400) for key in "abab"] == [True, True, False, False]
    assert made_again(cache, "c", 400)
    assert not made_again(cache, "b", 400)
    assert made_again(cache, "a", 400)


def test_a_short_text_counts_for_more_than_its_characters() -> None:
    cache: SizedCache[str] = SizedCache(1_000)
    assert all(made_again(cache, f"{number}", 1) for number in range(6))
    assert made_again(cache, "0", 1)


def test_a_text_longer_than_the_cache_is_not_kept() -> None:
    cache: SizedCache[str] = SizedCache(1_000)
    assert made_again(cache, "a", 10)
    assert [made_again(cache, "long", 1_001) for _ in range(2)] == [True, True]
    assert not made_again(cache, "a", 10)


def test_many_threads_get_the_values_of_their_keys() -> None:
    cache: SizedCache[str] = SizedCache(2_000)
    keys = [f"{number % 40}" for number in range(4_000)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda key: cache.get(key, 100, lambda: key), keys)) == keys


def test_equal_patterns_have_the_same_tree() -> None:
    assert go_regexp.parse("a+b") is go_regexp.parse("a+b")
    assert go_regexp.parse("^a") != go_regexp.parse("^a", one_line=True)
