"""The bench of the memory: its corpora, references, figures and made data."""

import argparse
import json

import numpy as np
import pytest

from bench.memory import (
    code_facts,
    corpora,
    foreign,
    graph,
    made,
    metrics,
    misses,
    nearest,
    quality,
    report,
    run,
    speed,
    timing,
)
from bench.memory.corpora import Corpus, Question, Text
from bench.memory.references import Bm25, FullText
from bench.model import Faulty
from bench.progress import Progress

LOCOMO = [
    {
        "conversation": {
            "speaker_a": "Ann",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "I bought a canoe."},
                {"speaker": "Bob", "dia_id": "D1:2", "text": ""},
            ],
            "session_2_date_time": "9:00 am on 1 June, 2023",
            "session_2": [{"speaker": "Bob", "dia_id": "D2:1", "text": "The cat sleeps."}],
        },
        "qa": [
            {"question": "Who buys canoes?", "evidence": ["D1:1"], "category": 4},
            {"question": "What of both?", "evidence": ["D1:1; D2:01", "D9:9"], "category": 1},
            {"question": "Nothing?", "evidence": [], "category": 5},
        ],
    }
]
SMALL = Corpus(
    name="small",
    drawers=(
        Text(id="a", text="Ann bought a red canoe", room="one"),
        Text(id="b", text="Bob paddles on the river", room="one"),
        Text(id="c", text="The cat sleeps under the canoe", room="two"),
    ),
    questions=(
        Question(query="Who buys canoes?", evidence=("a",), kind="exact words"),
        Question(query="sleeping cats", evidence=("c",), kind="exact words"),
        Question(query="feline", evidence=("c",), kind="paraphrase"),
    ),
)


def test_a_locomo_file_becomes_palaces_of_turns(tmp_path):
    path = tmp_path / "corpus.json"
    path.write_text(json.dumps(LOCOMO))
    [corpus] = corpora.locomo(path)
    first, second = corpus.drawers
    assert (first.id, first.room, first.text) == ("D1:1", "session-1", "Ann: I bought a canoe.")
    assert first.created_ms == 1683554160000
    assert second.id == "D2:1"
    assert [(one.evidence, one.kind) for one in corpus.questions] == [
        (("D1:1",), "single-hop"),
        (("D1:1", "D2:1"), "multi-hop"),
    ]


def test_another_file_is_refused(tmp_path):
    path = tmp_path / "corpus.json"
    path.write_text('[{"a": 1}]')
    with pytest.raises(Faulty, match="no file of locomo"):
        corpora.locomo(path)


@pytest.mark.parametrize("reference", [FullText, Bm25])
def test_references_rank_by_stems(reference):
    ranker = reference(SMALL)
    assert ranker.ranked("Who buys canoes?", 10)[0] == "a"
    assert ranker.ranked("sleeping cats", 1) == ["c"]
    assert set(ranker.ranked("canoes", 10)) == {"a", "c"}
    assert ranker.ranked('" ?!', 10) == []
    ranker.close()


def test_places_of_drawers_and_rooms_are_counted():
    measured = {"answers": [], "misses": []}
    quality._ask(measured, quality.Set("small", [SMALL], is_tuned=False), "BM25", Bm25)
    [answers], [missed] = measured["answers"], measured["misses"]
    assert answers["places"] == [[1], [1], [0]]
    assert answers["rooms"] == [1, 1, 0]
    assert answers["halves"] == [1, 1, 1]
    assert missed["classes"] == {"no common word": 1}


def test_figures_are_means_with_intervals():
    answers = {
        "corpus": "c", "arm": "a", "kinds": ["k"] * 4, "halves": [0, 1, 0, 1],
        "places": [[1], [2, 0], [7], [0]], "rooms": [1, 6, 2, 0], "p50_ms": 1.0,
    }  # fmt: skip
    assert metrics.recall(answers, 5).tolist() == [1, 0.5, 0, 0]
    assert metrics.recall(answers, 10).tolist() == [1, 0.5, 1, 0]
    assert metrics.reciprocal(answers).tolist() == [1, 0.5, 1 / 7, 0]
    assert metrics.room_hit(answers, 5).tolist() == [1, 0, 1, 0]
    assert metrics.room_reciprocal(answers).tolist() == [1, 1 / 6, 0.5, 0]
    figure = metrics.figure(np.array([1.0] * 50 + [0.0] * 50))
    assert figure["value"] == 0.5
    assert 0.38 < figure["low"] < 0.45
    assert 0.55 < figure["high"] < 0.62
    assert metrics.figure(np.array([])) == {"value": 0.0, "low": 0.0, "high": 0.0}


@pytest.mark.parametrize(
    ("query", "evidence", "shown", "why"),
    [
        ("feline", ("c",), [], "no common word"),
        ("is it a canoe", ("c",), [], "one common word"),
        ("cat under a canoe", ("c",), ["a"], "other"),
        ("cat under a canoe", ("b", "c"), [], "several drawers"),
        ("when was the cat under a canoe", ("c",), [], "date"),
        ("the red canoe of Ann", ("a",), ["b"], "near"),
    ],
)
def test_misses_are_classified(query, evidence, shown, why):
    question = Question(query=query, evidence=evidence, kind="")
    assert misses.Drawers(SMALL).why(question, shown) == why


def test_a_far_drawer_of_the_room_is_told_from_a_near_one():
    texts = [Text(id=str(at), text=f"red canoe {at}", room="one") for at in range(9)]
    drawers = misses.Drawers(Corpus(name="c", drawers=tuple(texts), questions=()))
    question = Question(query="red canoe", evidence=("0",), kind="")
    assert drawers.why(question, ["8"]) == "same room"
    assert drawers.why(question, ["2"]) == "near"


def test_questions_about_texts_of_others_name_their_drawers():
    rows = [json.loads(line) for line in foreign.QUESTIONS.read_text().splitlines()]
    kinds = [row["kind"] for row in rows]
    assert kinds.count("paraphrase") >= 75
    assert kinds.count("exact words") >= 75
    assert len({row["query"] for row in rows}) == len(rows)
    sources = {source["package"] for source in foreign._sources()}
    assert {row["drawer"].partition(":")[0] for row in rows} == sources


def test_docstrings_are_the_ones_that_questions_are_about():
    [source] = [source for source in foreign._sources() if source["package"] == "click"]
    try:
        drawers = foreign._chosen(source)
    except Faulty as error:
        pytest.skip(str(error))
    digests = {drawer.id: foreign.digest(drawer.text) for drawer in drawers}
    rows = [json.loads(line) for line in foreign.QUESTIONS.read_text().splitlines()]
    own = [row for row in rows if row["drawer"].startswith("click:")]
    assert len(own) > 10
    assert all(digests[row["drawer"]] == row["digest"] for row in own)


def test_another_version_of_a_source_is_refused():
    source = {
        "kind": "docstrings",
        "package": "click",
        "version": "0.1",
        "path": "click",
        "count": 1,
    }
    with pytest.raises(Faulty, match=r"click 0\.1 is needed"):
        foreign._chosen({**source, "version": "0.1"})


def test_entries_of_a_news_file_are_read_by_release(tmp_path):
    import gzip

    path = tmp_path / "NEWS.gz"
    text = (
        "GNU x NEWS\n\n  not yet in a release\n\n* Noteworthy changes in release 9.1 (2022)\n\n"
        "** Bug fixes\n\n  cp no longer\n  fails.\n  [bug introduced in 8.0]\n"
    )
    path.write_bytes(gzip.compress(text.encode()))
    source = {"kind": "news", "package": "x", "version": "1", "path": str(path), "count": 1}
    [(name, entry)] = foreign._news(source)
    assert name.startswith("9.1#")
    assert entry == "cp no longer fails."
    with pytest.raises(Faulty, match="cannot be read"):
        list(foreign._news({**source, "path": str(tmp_path / "absent")}))


def test_facts_about_code_are_asked_by_a_part_of_their_names():
    corpus = code_facts.read()
    texts = {drawer.id: drawer.text.lower() for drawer in corpus.drawers}
    assert len(texts) == len(corpus.drawers) >= 60
    assert {question.kind for question in corpus.questions} == {
        "identifiers", "files", "options", "versions", "errors",
    }  # fmt: skip
    for question in corpus.questions:
        if question.kind == "identifiers":
            [name] = question.evidence
            assert all(word in texts[name] for word in question.query.split())


def test_identifiers_are_split_where_they_are_spelt():
    assert code_facts.parts("parseHTTPHeader_v2") == ["parse", "http", "header", "v", "2"]


def test_made_drawers_are_the_same_again():
    words = made.vocabulary(["the red canoe", "the river"])
    assert words[0] == "the"
    one, other = (list(made.drawers(50, words)) for _ in range(2))
    assert one == other
    assert len({drawer.room for drawer in one}) == made.ROOMS
    assert all(made.LENGTHS[0] <= len(drawer.text.split()) < made.LENGTHS[1] for drawer in one)
    assert made.questions(5, words) == made.questions(5, words)


def test_made_vectors_have_near_ones():
    vectors = made.vectors(2_000, 32)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    cosines = vectors @ made.vectors(1, 32, 1)[0]
    assert cosines.max() > cosines.mean() + 3 * cosines.std()


def test_a_small_graph_is_measured(monkeypatch):
    monkeypatch.setattr(graph, "CHANGES", 100)
    measured = graph.measure(300, Progress(), step=100)
    assert [size["triples"] for size in measured["sizes"]] == [100, 200, 300]
    assert all(size["asserted"]["calls"] == graph.SAMPLES for size in measured["sizes"])
    assert "| 300 |" in "\n".join(graph.section(measured))


def test_a_slope_is_the_share_of_the_first():
    sizes = [
        {"triples": n * 100_000, "asserted": {"cpu_p50_ms": 2.0 + 0.5 * (n - 1)}} for n in (1, 2, 3)
    ]
    assert graph.slope({"sizes": sizes}, "asserted") == pytest.approx(0.25)


def test_ways_take_turns():
    calls = []
    ways = {name: timing.Timed(lambda item, name=name: calls.append((name, item))) for name in "ab"}
    times = timing.interleaved(ways, [1, 2])
    assert calls == [("a", 1), ("b", 1), ("a", 2), ("b", 2)]
    assert times["a"]["calls"] == 2
    assert 0 <= times["a"]["p50_ms"] <= times["a"]["p95_ms"] <= times["a"]["max_ms"]


def test_drawers_apart_are_of_no_group():
    drawers = corpora.apart(SMALL).drawers
    times = [drawer.created_ms for drawer in drawers]
    assert np.diff(times).tolist() == [corpora.APART_MS] * 2
    assert [drawer.text for drawer in drawers] == [drawer.text for drawer in SMALL.drawers]


@pytest.mark.parametrize("way", [nearest.exact, nearest.signed_bytes])
def test_ways_find_the_nearest_vectors(way):
    vectors = made.vectors(500, 64)
    search, _ = way(vectors)
    query = made.vectors(1, 64, 5)[0]
    right = np.argsort(-(vectors @ query))[: nearest.COUNT].tolist()
    assert search(query) == right


def test_hnsw_finds_most_of_the_nearest():
    pytest.importorskip("usearch")
    vectors = made.vectors(500, 64)
    search, size = nearest.hnsw(vectors)
    query = made.vectors(1, 64, 5)[0]
    right = set(np.argsort(-(vectors @ query))[: nearest.COUNT].tolist())
    assert len(right & set(search(query))) >= 8
    assert size > 500 * 64 * 2


@pytest.mark.slow
def test_the_real_profile_is_asked_and_reported(tmp_path):
    measured = {"answers": [], "misses": []}
    sets = [quality.Set("foreign texts", [SMALL], is_tuned=False)]
    quality._ask(measured, sets[0], FullText.name, FullText)
    quality._ask_product(measured, sets, "none", Progress())
    assert [one["arm"] for one in measured["answers"]] == ["SQLite FTS5", "words"]
    assert measured["answers"][1]["places"] == [[1], [1], [0]]
    report.write({"quality": measured}, tmp_path, tmp_path / "page.md")
    page = (tmp_path / "page.md").read_text()
    assert "| words, exact words | 2 | 1.000 (1.000-1.000) |" in page
    assert "| foreign texts, exact words, recall@1: words | ≥ 1.000 (FTS5) | 1.000 | met |" in page
    assert report.read(tmp_path)["quality"]["answers"] == measured["answers"]


@pytest.mark.slow
def test_times_of_few_drawers_are_measured(monkeypatch):
    monkeypatch.setattr(speed, "QUESTIONS", 5)
    monkeypatch.setattr(speed, "REMEMBERED", 3)
    monkeypatch.setattr(speed, "COLD", 1)
    monkeypatch.setattr(foreign, "read", lambda: SMALL)
    [one] = speed.measure([50], [], Progress())
    assert (one["drawers"], one["embedder"]) == (50, "none")
    assert one["recall"]["profile"]["calls"] == 5
    assert one["remember"]["in process"]["calls"] == 3
    assert one["resident_bytes"] > 1e6
    page = "\n".join(speed.section([one]))
    assert "| 50 | none | recall, profile | 5 |" in page


def test_figures_of_other_corpora_stay_in_the_record():
    def part(*names):
        return {"answers": [{"corpus": name} for name in names], "misses": []}

    joined = run._joined(part("LoCoMo", "foreign texts"), part("foreign texts", "code facts"))
    assert [one["corpus"] for one in joined["answers"]] == [
        "LoCoMo", "foreign texts", "code facts",
    ]  # fmt: skip


def test_nothing_to_measure_is_said():
    options = argparse.ArgumentParser()
    run.add_options(options, run.Path("page.md"))
    with pytest.raises(Faulty, match="nothing to measure"):
        run.run(options.parse_args([]))
    with pytest.raises(Faulty, match="no corpus is called other=x"):
        run.run(options.parse_args(["--corpus", "other=x"]))
