"""The schema of the history database.

Names follow claude-mem where the meaning is the same, so that its databases can be imported row by
row. Times are Unix milliseconds. Text is redacted before it gets here.

`sources` holds the files and databases that conversations were read from, and `mark`, the place up
to which they were. `messages` holds what people and models said; a message with role `user` is a
prompt, numbered in its session. `tool_events` holds uses of tools. Observations are derived from
both by rule, or written by people and agents, or imported. `derived_at` of a session is 0 if its
messages or events have changed since they were derived: who writes them sets it. Synthesis also
sets `error_key` and `event_programs`, the programs that a command runs (`pytest`, `cargo test`).
`row_hash` says what a row was made from: nothing is written twice.

The FTS tables index content of other tables (external content) and are kept in step by triggers.
`sub` holds what `sub_tokens` computes: parts of identifiers (camelCase, paths) and pairs of
Chinese, Japanese and Korean characters; of messages only prompts have it. The recall index
(`triseek.recall`) indexes `messages`. `tombstones` are keyed hashes of what was forgotten;
`facts_of_database` holds what is true of the database as a whole, such as whose conversations may
be read.
"""

from __future__ import annotations

from triseek.store.sqlite import Migration

OBSERVATION_TYPES = ("decision", "bugfix", "feature", "refactor", "discovery", "change")

_TABLES = """
CREATE TABLE sources (
    id INTEGER PRIMARY KEY,
    agent TEXT NOT NULL,
    path TEXT NOT NULL,
    inode INTEGER NOT NULL DEFAULT 0,
    size INTEGER NOT NULL DEFAULT 0,
    mtime_ns INTEGER NOT NULL DEFAULT 0,
    fingerprint TEXT NOT NULL DEFAULT '',
    mark TEXT NOT NULL DEFAULT '{}',
    read_at INTEGER NOT NULL DEFAULT 0,
    gone_at INTEGER,
    skipped TEXT NOT NULL DEFAULT '[]',
    UNIQUE (agent, path)
);
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    agent TEXT NOT NULL,
    external_id TEXT NOT NULL,
    parent_external_id TEXT NOT NULL DEFAULT '',
    is_sub_agent INTEGER NOT NULL DEFAULT 0,
    source_id INTEGER REFERENCES sources (id) ON DELETE SET NULL,
    project TEXT NOT NULL DEFAULT '',
    root TEXT NOT NULL DEFAULT '',
    cwd TEXT NOT NULL DEFAULT '',
    branch TEXT NOT NULL DEFAULT '',
    title TEXT NOT NULL DEFAULT '',
    model TEXT NOT NULL DEFAULT '',
    status TEXT NOT NULL DEFAULT 'completed' CHECK (status IN ('active', 'completed', 'failed')),
    prompt_counter INTEGER NOT NULL DEFAULT 0,
    started_at_epoch INTEGER NOT NULL DEFAULT 0,
    completed_at_epoch INTEGER NOT NULL DEFAULT 0,
    derived_at INTEGER NOT NULL DEFAULT 0,
    UNIQUE (agent, external_id)
);
CREATE INDEX sessions_by_project ON sessions (project, started_at_epoch);
CREATE INDEX sessions_by_root ON sessions (root, started_at_epoch);
CREATE INDEX sessions_by_time ON sessions (started_at_epoch);
CREATE INDEX sessions_by_external_id ON sessions (external_id);
CREATE INDEX sessions_to_derive ON sessions (id) WHERE derived_at = 0;
CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    external_id TEXT NOT NULL,
    parent TEXT NOT NULL DEFAULT '',
    role TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'summary')),
    prompt_number INTEGER NOT NULL DEFAULT 0,
    text TEXT NOT NULL,
    sub TEXT NOT NULL DEFAULT '',
    created_at_epoch INTEGER NOT NULL DEFAULT 0,
    UNIQUE (session_id, external_id)
);
CREATE INDEX messages_in_order ON messages (session_id);
CREATE INDEX prompts_by_time ON messages (created_at_epoch) WHERE role = 'user';
CREATE INDEX messages_by_time ON messages (created_at_epoch, session_id);
CREATE TABLE tool_events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    external_id TEXT NOT NULL,
    parent TEXT NOT NULL DEFAULT '',
    prompt_number INTEGER NOT NULL DEFAULT 0,
    name TEXT NOT NULL DEFAULT '',
    input TEXT NOT NULL DEFAULT '',
    command TEXT NOT NULL DEFAULT '',
    exit_status INTEGER,
    failed INTEGER,
    output TEXT NOT NULL DEFAULT '',
    error_key TEXT NOT NULL DEFAULT '',
    created_at_epoch INTEGER NOT NULL DEFAULT 0,
    ended_at_epoch INTEGER NOT NULL DEFAULT 0,
    UNIQUE (session_id, external_id)
);
CREATE INDEX tool_events_in_order ON tool_events (session_id);
CREATE INDEX tool_events_by_error ON tool_events (error_key, session_id, created_at_epoch)
    WHERE error_key != '';
CREATE TABLE event_programs (
    program TEXT NOT NULL,
    event_id INTEGER NOT NULL REFERENCES tool_events (id) ON DELETE CASCADE,
    PRIMARY KEY (program, event_id)
) WITHOUT ROWID;
CREATE INDEX event_programs_by_event ON event_programs (event_id);
CREATE TABLE event_files (
    event_id INTEGER NOT NULL REFERENCES tool_events (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('read', 'modified')),
    before TEXT NOT NULL DEFAULT '',
    after TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (event_id, path, role)
);
CREATE INDEX event_files_by_path ON event_files (path);
CREATE TABLE observations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    project TEXT NOT NULL DEFAULT '',
    root TEXT NOT NULL DEFAULT '',
    type TEXT NOT NULL,
    title TEXT NOT NULL DEFAULT '',
    subtitle TEXT NOT NULL DEFAULT '',
    narrative TEXT NOT NULL DEFAULT '',
    text TEXT NOT NULL DEFAULT '',
    facts TEXT NOT NULL DEFAULT '[]',
    concepts TEXT NOT NULL DEFAULT '[]',
    prompt_number INTEGER NOT NULL DEFAULT 0,
    origin TEXT NOT NULL DEFAULT 'rule' CHECK (origin IN ('rule', 'explicit', 'import')),
    rule TEXT NOT NULL DEFAULT '',
    row_hash TEXT NOT NULL,
    evidence TEXT NOT NULL DEFAULT '{}',
    is_dead_end INTEGER NOT NULL DEFAULT 0,
    pinned INTEGER NOT NULL DEFAULT 0,
    valid_until INTEGER,
    superseded_by INTEGER REFERENCES observations (id) ON DELETE SET NULL,
    sub TEXT NOT NULL DEFAULT '',
    created_at_epoch INTEGER NOT NULL DEFAULT 0,
    UNIQUE (session_id, row_hash)
);
CREATE INDEX observations_by_time ON observations (created_at_epoch);
CREATE INDEX observations_by_type ON observations (type, created_at_epoch);
CREATE INDEX observations_by_project ON observations (project, created_at_epoch);
CREATE INDEX observations_pinned ON observations (project, created_at_epoch) WHERE pinned;
CREATE TABLE observation_files (
    observation_id INTEGER NOT NULL REFERENCES observations (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('read', 'modified')),
    sha TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (observation_id, path, role)
);
CREATE INDEX observation_files_by_path ON observation_files (path);
CREATE TABLE session_summaries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    project TEXT NOT NULL DEFAULT '',
    request TEXT NOT NULL DEFAULT '',
    investigated TEXT NOT NULL DEFAULT '',
    learned TEXT NOT NULL DEFAULT '',
    completed TEXT NOT NULL DEFAULT '',
    next_steps TEXT NOT NULL DEFAULT '',
    notes TEXT NOT NULL DEFAULT '',
    prompt_number INTEGER NOT NULL DEFAULT 0,
    origin TEXT NOT NULL DEFAULT 'rule' CHECK (origin IN ('rule', 'import')),
    row_hash TEXT NOT NULL,
    sub TEXT NOT NULL DEFAULT '',
    created_at_epoch INTEGER NOT NULL DEFAULT 0,
    UNIQUE (session_id, row_hash)
);
CREATE INDEX session_summaries_by_time ON session_summaries (created_at_epoch);
CREATE TABLE tombstones (
    key TEXT PRIMARY KEY,
    forgotten_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE facts_of_database (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""

_FTS = {
    "observations": ("title", "subtitle", "narrative", "text", "facts", "concepts", "sub"),
    "session_summaries": (
        "request", "investigated", "learned", "completed", "next_steps", "notes", "sub",
    ),
}  # fmt: skip
"""Table → its columns that are searched."""


def _fts(table: str, columns: tuple[str, ...]) -> str:
    """Return the statements that make a table's full-text index and keep it in step."""
    names = ", ".join(columns)
    new = ", ".join(f"new.{name}" for name in columns)
    old = ", ".join(f"old.{name}" for name in columns)
    remove = (
        f"INSERT INTO {table}_fts ({table}_fts, rowid, {names}) VALUES ('delete', old.id, {old});"  # noqa: S608
    )
    add = f"INSERT INTO {table}_fts (rowid, {names}) VALUES (new.id, {new});"  # noqa: S608
    return f"""
CREATE VIRTUAL TABLE {table}_fts USING fts5 ({names}, content='{table}', content_rowid='id');
CREATE TRIGGER {table}_added AFTER INSERT ON {table} BEGIN {add} END;
CREATE TRIGGER {table}_removed AFTER DELETE ON {table} BEGIN {remove} END;
CREATE TRIGGER {table}_changed AFTER UPDATE ON {table} BEGIN {remove} {add} END;
"""


_PROMPTS_FTS = """
CREATE VIEW user_prompts AS
    SELECT id, session_id, prompt_number, text AS prompt_text, sub, created_at_epoch
    FROM messages WHERE role = 'user';
CREATE VIRTUAL TABLE user_prompts_fts USING fts5 (
    prompt_text, sub, content='user_prompts', content_rowid='id'
);
CREATE TRIGGER prompt_added AFTER INSERT ON messages WHEN new.role = 'user' BEGIN
    INSERT INTO user_prompts_fts (rowid, prompt_text, sub) VALUES (new.id, new.text, new.sub); END;
CREATE TRIGGER prompt_removed AFTER DELETE ON messages WHEN old.role = 'user' BEGIN
    INSERT INTO user_prompts_fts (user_prompts_fts, rowid, prompt_text, sub)
        VALUES ('delete', old.id, old.text, old.sub); END;
CREATE TRIGGER prompt_changed AFTER UPDATE ON messages WHEN old.role = 'user' BEGIN
    INSERT INTO user_prompts_fts (user_prompts_fts, rowid, prompt_text, sub)
        VALUES ('delete', old.id, old.text, old.sub);
    INSERT INTO user_prompts_fts (rowid, prompt_text, sub) VALUES (new.id, new.text, new.sub); END;
"""

FULL_TEXT_TABLES = (*_FTS, "user_prompts")
"""Tables and views with a full-text index, whose name is theirs with `_fts` behind it."""
MIGRATIONS = (
    Migration(1, _TABLES + "".join(_fts(*entry) for entry in _FTS.items()) + _PROMPTS_FTS),
)
