"""The reading of corpora, and what is measured on them."""

import json
import subprocess

import pytest

from bench.history import corpora, made_corpus, measure, observations, report, scale, transcripts
from bench.model import Faulty
from bench.progress import Progress
from triseek.agents.claude_code_transcripts import ClaudeTranscripts
from triseek.model.conversation import Conversation, Mark, Message

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


@pytest.mark.slow
def test_a_locomo_file_is_measured_by_tool_and_command(tmp_path):
    path = tmp_path / "corpus.json"
    path.write_text(json.dumps(LOCOMO))
    [answers] = measure.measure("locomo", path, None, Progress(), commands=1)
    assert answers["ranks"] == [[1, 1], []]
    assert answers["by_command"] == 1
    page = "\n".join(report.recall([answers]))
    assert "| locomo, triseek, both | 2 | 1.000 | 1.000 | 1.000 |" in page


def test_transcripts_of_a_corpus_are_read_whole(tmp_path):
    path = tmp_path / "corpus.json"
    path.write_text(json.dumps(LOCOMO))
    [haystack] = corpora.read("locomo", path)
    names = transcripts.write(tmp_path / ".claude", "haystack-0000", haystack.sessions)
    files = {one.stem: one for one in (tmp_path / ".claude").rglob("*.jsonl")}
    assert sorted(files) == sorted(names)
    records = list(ClaudeTranscripts().read(str(files[names[0]]), Mark()))
    [conversation] = [one for one in records if isinstance(one, Conversation)]
    [message] = [one for one in records if isinstance(one, Message)]
    assert (conversation.id, conversation.cwd) == (names[0], "/made/haystack-0000")
    assert (message.role, message.text) == ("user", "Ann: I bought a canoe.")
    assert message.time_ms == 1683554160000


def test_questions_of_made_transcripts_are_words_of_their_prompts(tmp_path):
    made_corpus.make(tmp_path, 50_000)
    files = sorted(tmp_path.rglob("*.jsonl"))
    text = "".join(path.read_text() for path in files)
    questions = scale._questions(files)
    assert questions
    assert all(f'"content":"{question}' in text for question in questions)


def test_every_label_is_of_a_listed_transcript_and_says_why_a_row_is_wrong():
    listed = {(one.repository, one.commit, one.path) for one in observations.transcripts()}
    labels = observations.labels()
    assert len({(one.repository, one.path, one.row) for one in labels}) == len(labels) >= 200
    for label in labels:
        assert (label.repository, label.commit, label.path) in listed
        assert (label.verdict, bool(label.fault)) in {("yes", False), ("no", True)}


SAID = {"role": "user", "content": "Count the tax."}
USE = {"type": "tool_use", "id": "t1", "name": "Bash"}
COMMIT = {"command": "git commit -m 'Add taxes'"}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "[main 1a2b3c4] Add taxes"}


@pytest.mark.slow
def test_rows_of_transcripts_in_a_repository_are_derived(tmp_path):
    messages = [
        ("user", SAID), ("assistant", {"role": "assistant", "id": "m1", "content": [{**USE, "input": COMMIT}]}),  # noqa: E501
        ("user", {"role": "user", "content": [RESULT]}),
    ]  # fmt: skip
    rows = [
        {"type": kind, "uuid": f"u{at}", "sessionId": "s1", "cwd": "/work", "message": message,
         "timestamp": f"2026-01-01T00:00:0{at}Z"}
        for at, (kind, message) in enumerate(messages)
    ]  # fmt: skip
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def git(*words: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        argv = ["git", *who, "-C", str(tmp_path), *words]
        return subprocess.run(argv, capture_output=True, check=True, text=True).stdout.strip()

    git("init", "-q")
    git("add", "a.jsonl")
    git("commit", "-qm", "Add a transcript")
    transcript = observations.Transcript("o/n", git("rev-parse", "HEAD"), "a.jsonl", "claude-code")
    [row] = observations.derived([transcript], tmp_path)
    assert (row.path, row.type, row.rule, row.title) == (
        "a.jsonl",
        "feature",
        "commit",
        "Add taxes",
    )
    with pytest.raises(Faulty, match="has no"):
        list(observations.derived([transcript._replace(path="b.jsonl")], tmp_path))


def test_the_page_has_precision_by_type_and_half():
    rows = {"reported\tbugfix\tyes": 3, "reported\tbugfix\tno": 1, "reported\tdead end\tno": 1}
    measured = {
        "transcripts": 2, "repositories": 1, "rows": rows, "faults": {"reported\tretry": 2},
    }  # fmt: skip
    page = "\n".join(report.precision(measured))
    assert "| reported, bugfix | 4 | 3 | 0.75 | 0 |" in page
    assert "| reported, all | 5 | 3 | 0.60 | 0 |" in page
    assert "wrong in the reported half: retry 2." in page


def test_a_run_replaces_its_part_of_the_record(tmp_path):
    page = tmp_path / "page.md"
    measured = {"transcripts": 2, "repositories": 1, "rows": {}, "faults": {}}
    report.write({"observations": measured}, tmp_path, page)
    kept = report.read(tmp_path)
    kept["recall"] = []
    report.write(kept, tmp_path, page)
    assert report.read(tmp_path) == {"observations": measured, "recall": []}
    assert "## Recall" in page.read_text()
    assert "## Precision" in page.read_text()


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
    assert haystack.questions == (("Which canoe?", frozenset({"one"})),)


def test_another_file_is_refused(tmp_path):
    path = tmp_path / "corpus.json"
    path.write_text('{"a": 1}')
    with pytest.raises(Faulty, match="no file of locomo"):
        list(corpora.read("locomo", path))


def test_an_answer_that_is_not_found_counts_nothing():
    assert measure.figures([1, 0, 5, 10]) == (0.25, 0.5, pytest.approx(1.3 / 4))


def test_the_page_says_what_the_daemon_held():
    held = {"rss": 2_000_000, "anonymous": 1_000_000, "file": 1_000_000, "peak": 3_000_000}
    run = {
        "bytes": 1, "files": 1, "messages": 1, "load": [0.0, 0.0], "programs": [],
        "daemon": {"before": held, "imported": held, "searched": held, "seconds": 4.0},
    }  # fmt: skip
    *_, about, rows = report.scale(run)
    assert "in 4 s" in about
    assert "| imported | 2 | 1 | 3 |" in rows
