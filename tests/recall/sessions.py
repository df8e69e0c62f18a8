"""Sessions of a history's database, and what a search finds in them."""

import random

import pytest

DAY = 86_400_000
START = 1_683_500_000_000
WORDS = [f"{a}{b}" for a in ("alpha", "beta", "gamma", "delta", "develop") for b in
         ("", "s", "ing", "er", "tion", "x1", "zz", "ity")]  # fmt: skip


def snapshot_of(recall, queries=("alpha", "betaing delta in june", "develoption gammas")):
    return [
        [(hit.session_id, hit.message_id, pytest.approx(hit.score, abs=1e-5)) for hit in page.hits]
        for query in queries
        for by in ("session", "message")
        for page in [recall.search(query, by=by, limit=500)]
    ]


def add(database, session, *texts, at=START):
    """Add messages to a session; return their ids."""
    with database.write() as connection:
        connection.execute(
            "INSERT OR IGNORE INTO sessions (id, agent, external_id) VALUES (?, 'x', ?)",
            (session, str(session)),
        )
        return [
            connection.execute(
                "INSERT INTO messages (session_id, external_id, role, text, created_at_epoch)"
                " VALUES (?, (SELECT count(*) FROM messages), 'user', ?, ?)",
                (session, text, at),
            ).lastrowid
            for text in texts
        ]


def found(recall, query, by="session", **options):
    page = recall.search(query, by=by, limit=50, **options)
    return [hit.session_id if by == "session" else hit.message_id for hit in page.hits]


def fill(database, seed, sessions):
    draw = random.Random(seed)
    for session in sessions:
        texts = [
            " ".join(draw.choices(WORDS, k=draw.randint(0, 12))) for _ in range(draw.randint(1, 9))
        ]
        add(database, session, *texts, at=START + session * 9 * DAY)
