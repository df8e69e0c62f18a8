import numpy as np

from triseek.recall import ranking

MAY, JUNE, LATER = 1_683_500_000_000, 1_686_500_000_000, 1_720_000_000_000
"""2023-05-07, 2023-06-11, 2024-07-03."""


def test_a_query_names_its_dates():
    query = ranking.parse("What happened in May, 2023 or june 1999?")
    assert query.months == {5, 6}
    assert query.years == {1999, 2023}
    assert "happen" in query.terms


def test_dates_prefer_their_sessions_and_a_little_the_month_after():
    times = np.array([MAY, JUNE, LATER, 0], np.int64)
    may, june, later, unknown = ranking.date_scores(ranking.parse("in May"), times)
    assert may > june > later == unknown == 0
    assert ranking.date_scores(ranking.parse("2024"), times).tolist()[:2] == [0, 0]


def test_december_is_followed_by_january():
    december, january = 1_703_000_000_000, 1_705_000_000_000
    scores = ranking.date_scores(ranking.parse("december"), np.array([december, january, MAY]))
    assert scores[0] > scores[1] > scores[2] == 0


def test_variants_are_the_most_frequent_of_similar_length():
    like = {"develop": 1, "develops": 9, "developersville": 50, "devel": 2}
    assert ranking.variants("develop", like) == ["develops", "devel"]
    many = {f"devel{n}": 1 for n in range(ranking.PREFIX_TERMS_MAX + 1)}
    assert ranking.variants("develop", many) == []
