"""The made history, and the figures of searches in it."""

from bench.history import large
from triseek.history.database import open_database


def test_a_made_history_is_searched(tmp_path):
    large.make(tmp_path, 130, ["canoe", "river", "paddle"])
    indexing = large._index(tmp_path)
    assert indexing["messages"] == 130
    assert indexing["index_bytes"] > 1000
    measured = large._search(tmp_path, ["Who has the canoe?", "Which river?"], indexing)
    assert [one["searches"] for one in measured["times"]][:2] == [2, 2]
    assert all(0 < one["p50"] <= one["p95"] <= one["most"] for one in measured["times"])
    page = large.section(measured)
    assert "| messages | 130 |" in page
    assert "| questions, sessions | 2 |" in page


def test_the_same_history_is_made_again(tmp_path):
    texts = []
    for name in ("one", "two"):
        large.make(tmp_path / name, 60, ["canoe"])
        with open_database(str(tmp_path / name)).read() as connection:
            texts.append(connection.execute("SELECT session_id, text FROM messages").fetchall())
    assert texts[0] == texts[1]
    assert len(texts[0]) == 60
    assert "canoe" in " ".join(text for _, text in texts[0])
