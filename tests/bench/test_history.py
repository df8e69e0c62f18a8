"""The reading of corpora and the figures of recall."""

import json

import pytest

from bench.history import corpora, measure, searchers
from bench.model import Faulty

LOCOMO = [
    {
        "conversation": {
            "speaker_a": "Ann",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [{"speaker": "Ann", "dia_id": "D1:1", "text": "I bought a canoe."}],
            "session_2_date_time": "9:00 am on 1 June, 2023",
            "session_2": [{"speaker": "Bob", "dia_id": "D2:1", "text": "The cat sleeps."}],
        },
        "qa": [
            {"question": "Who buys canoes?", "evidence": ["D1:1"]},
            {"question": "What of the cat?", "evidence": ["D2:1; D2:7"]},
            {"question": "Nothing?", "evidence": []},
        ],
    }
]


def test_a_locomo_file_is_measured(tmp_path):
    path = tmp_path / "corpus.json"
    path.write_text(json.dumps(LOCOMO))
    [answers] = measure.measure("locomo", path, None)
    assert answers["ranks"] == [[1, 1], []]
    assert "| locomo, triseek, both | 2 | 1.000 | 1.000 | 1.000 |" in measure.page([answers])


def test_a_longmemeval_file_is_read(tmp_path):
    path = tmp_path / "corpus.json"
    row = {
        "question": "Which canoe?",
        "haystack_session_ids": ["one"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21"],
        "haystack_sessions": [[{"role": "user", "content": "A red canoe."}]],
        "answer_session_ids": ["one"],
    }
    path.write_text(json.dumps([row]))
    [haystack] = corpora.read("longmemeval", path)
    assert haystack.sessions[0].began.isoformat() == "2023-05-20T02:21:00+00:00"
    assert searchers.triseek(tmp_path, haystack.sessions)("canoes") == ["one"]


def test_another_file_is_refused(tmp_path):
    path = tmp_path / "corpus.json"
    path.write_text('{"a": 1}')
    with pytest.raises(Faulty, match="no file of locomo"):
        list(corpora.read("locomo", path))


def test_an_answer_that_is_not_found_counts_nothing():
    assert measure.figures([1, 0, 5, 10]) == (0.25, 0.5, pytest.approx(1.3 / 4))
