"""The schema of the memory database.

A palace holds the memories of one project or subject; `root` is the project's folder, NULL if it is
of none. A drawer is one memory, verbatim but for secrets. `room_key` is the name of its room by
which rooms are compared; `room` is how it was written first. A drawer that is forgotten stays for
some days with `deleted_at_epoch`; one that says the same as another has `superseded_by`. `vector`
is the drawer's text as the embedder of that name and version sees it: it is written in the
transaction of its drawer, so that both are there or neither is. `vector_seq` is the number of the
change that wrote it: what is in memory is brought up to date by it.

A group holds drawers of one room that were written one after another, each within an hour of the
one before: recall ranks a drawer with its neighbours. `changed_seq` is the number of the last
change of its drawers, and `changes` holds the last number of all. The first number is the time at
which the database was made, in milliseconds: so numbers are greater than those of a database that
was there before. Triggers keep groups and numbers, whoever writes a drawer.

A triple holds from `valid_from` until before `valid_to`, NULL if it holds still. Times are Unix
milliseconds. Text is redacted before it gets here.
"""

from __future__ import annotations

from triseek.memory.dream_tables import DREAM_TABLES
from triseek.store.sqlite import Migration

_TABLES = """
CREATE TABLE palaces (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    root TEXT UNIQUE,
    description TEXT NOT NULL DEFAULT '',
    identity TEXT NOT NULL DEFAULT '',
    created_at_epoch INTEGER NOT NULL
);
CREATE TABLE changes (last INTEGER NOT NULL);
INSERT INTO changes VALUES (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER));
CREATE TABLE groups (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    palace_id INTEGER NOT NULL REFERENCES palaces (id) ON DELETE CASCADE,
    room_key TEXT NOT NULL,
    last_at_epoch INTEGER NOT NULL,
    drawers INTEGER NOT NULL DEFAULT 0,
    characters INTEGER NOT NULL DEFAULT 0,
    changed_seq INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX groups_of_room ON groups (palace_id, room_key, id);
CREATE INDEX groups_changed ON groups (changed_seq);
CREATE TRIGGER group_removed AFTER DELETE ON groups BEGIN
    UPDATE changes SET last = last + 1; END;
CREATE TABLE drawers (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid TEXT NOT NULL UNIQUE,
    palace_id INTEGER NOT NULL REFERENCES palaces (id) ON DELETE CASCADE,
    room TEXT NOT NULL,
    room_key TEXT NOT NULL,
    text TEXT NOT NULL,
    importance REAL NOT NULL DEFAULT 0.5 CHECK (importance BETWEEN 0 AND 1),
    source TEXT NOT NULL DEFAULT '',
    created_at_epoch INTEGER NOT NULL,
    updated_at_epoch INTEGER NOT NULL,
    deleted_at_epoch INTEGER,
    superseded_by INTEGER REFERENCES drawers (id) ON DELETE SET NULL,
    recalled_at_epoch INTEGER,
    recall_count INTEGER NOT NULL DEFAULT 0,
    embedder TEXT NOT NULL DEFAULT '',
    vector BLOB,
    vector_seq INTEGER,
    group_id INTEGER REFERENCES groups (id) ON DELETE CASCADE
);
CREATE INDEX drawers_of_group ON drawers (group_id);
CREATE INDEX drawers_of_palace ON drawers (palace_id, importance DESC, id)
    WHERE deleted_at_epoch IS NULL;
CREATE INDEX drawers_of_room ON drawers (palace_id, room_key);
CREATE INDEX drawers_superseded ON drawers (palace_id) WHERE superseded_by IS NOT NULL;
CREATE INDEX drawers_hidden ON drawers (palace_id)
    WHERE deleted_at_epoch IS NOT NULL OR superseded_by IS NOT NULL;
CREATE INDEX drawers_of_embedder ON drawers (embedder, id) WHERE deleted_at_epoch IS NULL;
CREATE INDEX drawers_embedded ON drawers (palace_id, vector_seq) WHERE vector_seq IS NOT NULL;
CREATE TRIGGER drawer_written_with_vector AFTER INSERT ON drawers WHEN new.vector IS NOT NULL BEGIN
    UPDATE changes SET last = last + 1;
    UPDATE drawers SET vector_seq = (SELECT last FROM changes) WHERE id = new.id; END;
CREATE TRIGGER drawer_embedded AFTER UPDATE OF vector ON drawers BEGIN
    UPDATE changes SET last = last + 1;
    UPDATE drawers SET vector_seq = iif(new.vector IS NULL, NULL, (SELECT last FROM changes))
        WHERE id = new.id; END;
CREATE INDEX drawers_deleted ON drawers (deleted_at_epoch) WHERE deleted_at_epoch IS NOT NULL;
CREATE TABLE drawer_tags (
    drawer_id INTEGER NOT NULL REFERENCES drawers (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    tag TEXT NOT NULL,
    PRIMARY KEY (drawer_id, position)
) WITHOUT ROWID;
CREATE INDEX drawer_tags_by_tag ON drawer_tags (tag, drawer_id);
CREATE TABLE drawer_changes (
    id INTEGER PRIMARY KEY,
    drawer_id INTEGER NOT NULL REFERENCES drawers (id) ON DELETE CASCADE,
    text TEXT NOT NULL,
    changed_at_epoch INTEGER NOT NULL
);
CREATE INDEX drawer_changes_of_drawer ON drawer_changes (drawer_id);
CREATE VIRTUAL TABLE drawers_fts USING fts5 (
    text, content='drawers', content_rowid='id', tokenize='porter unicode61'
);
CREATE TRIGGER drawer_added AFTER INSERT ON drawers BEGIN
    INSERT INTO drawers_fts (rowid, text) VALUES (new.id, new.text); END;
CREATE TRIGGER drawer_removed AFTER DELETE ON drawers BEGIN
    INSERT INTO drawers_fts (drawers_fts, rowid, text) VALUES ('delete', old.id, old.text); END;
CREATE TRIGGER drawer_changed AFTER UPDATE OF text ON drawers BEGIN
    INSERT INTO drawers_fts (drawers_fts, rowid, text) VALUES ('delete', old.id, old.text);
    INSERT INTO drawers_fts (rowid, text) VALUES (new.id, new.text); END;
CREATE TRIGGER drawer_grouped AFTER INSERT ON drawers BEGIN
    INSERT INTO groups (palace_id, room_key, last_at_epoch)
        SELECT new.palace_id, new.room_key, new.created_at_epoch WHERE NOT EXISTS (
            SELECT 1 FROM (SELECT * FROM groups WHERE palace_id = new.palace_id
                AND room_key = new.room_key ORDER BY id DESC LIMIT 1)
            WHERE drawers < 100 AND characters < 50000
                AND abs(last_at_epoch - new.created_at_epoch) <= 3600000);
    UPDATE changes SET last = last + 1;
    UPDATE groups SET drawers = drawers + 1, characters = characters + length(new.text),
        last_at_epoch = new.created_at_epoch, changed_seq = (SELECT last FROM changes)
        WHERE id = (SELECT max(id) FROM groups
            WHERE palace_id = new.palace_id AND room_key = new.room_key);
    UPDATE drawers SET group_id = (SELECT max(id) FROM groups
        WHERE palace_id = new.palace_id AND room_key = new.room_key) WHERE id = new.id; END;
CREATE TRIGGER drawer_touched AFTER UPDATE OF text, deleted_at_epoch, superseded_by ON drawers BEGIN
    UPDATE changes SET last = last + 1;
    UPDATE groups SET changed_seq = (SELECT last FROM changes) WHERE id = new.group_id; END;
CREATE TRIGGER drawer_dropped AFTER DELETE ON drawers BEGIN
    UPDATE changes SET last = last + 1;
    UPDATE groups SET changed_seq = (SELECT last FROM changes) WHERE id = old.group_id; END;
CREATE TRIGGER tag_added AFTER INSERT ON drawer_tags BEGIN
    UPDATE changes SET last = last + 1;
    UPDATE groups SET changed_seq = (SELECT last FROM changes)
        WHERE id = (SELECT group_id FROM drawers WHERE id = new.drawer_id); END;
CREATE TRIGGER tag_removed AFTER DELETE ON drawer_tags BEGIN
    UPDATE changes SET last = last + 1;
    UPDATE groups SET changed_seq = (SELECT last FROM changes)
        WHERE id = (SELECT group_id FROM drawers WHERE id = old.drawer_id); END;
CREATE TABLE triples (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    palace_id INTEGER NOT NULL REFERENCES palaces (id) ON DELETE CASCADE,
    subject TEXT NOT NULL,
    predicate TEXT NOT NULL,
    object TEXT NOT NULL,
    valid_from INTEGER NOT NULL,
    valid_to INTEGER,
    confidence REAL NOT NULL DEFAULT 1 CHECK (confidence BETWEEN 0 AND 1),
    provenance TEXT,
    is_multi INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX triples_active ON triples (palace_id, subject, predicate) WHERE valid_to IS NULL;
CREATE INDEX triples_in_time ON triples (palace_id, subject, valid_from);
CREATE INDEX triples_of_object ON triples (palace_id, object) WHERE valid_to IS NULL;
"""

_EVENTS = """
CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    palace TEXT NOT NULL,
    drawer TEXT NOT NULL DEFAULT '',
    detail TEXT NOT NULL DEFAULT ''
);
CREATE TRIGGER event_bounded AFTER INSERT ON events BEGIN
    DELETE FROM events WHERE seq <= new.seq - 1000; END;
CREATE TRIGGER event_palace_created AFTER INSERT ON palaces BEGIN
    INSERT INTO events (kind, palace) VALUES ('palace_created', new.name); END;
CREATE TRIGGER event_palace_deleted AFTER DELETE ON palaces BEGIN
    INSERT INTO events (kind, palace) VALUES ('palace_deleted', old.name); END;
CREATE TRIGGER event_drawer_added AFTER INSERT ON drawers BEGIN
    INSERT INTO events (kind, palace, drawer) SELECT 'drawer_added', name, new.uuid
        FROM palaces WHERE id = new.palace_id; END;
CREATE TRIGGER event_drawer_forgotten AFTER UPDATE OF deleted_at_epoch ON drawers
    WHEN (old.deleted_at_epoch IS NULL) <> (new.deleted_at_epoch IS NULL) BEGIN
    INSERT INTO events (kind, palace, drawer)
        SELECT iif(new.deleted_at_epoch IS NULL, 'drawer_added', 'drawer_deleted'), name, new.uuid
        FROM palaces WHERE id = new.palace_id; END;
CREATE TRIGGER event_drawer_deleted AFTER DELETE ON drawers
    WHEN old.deleted_at_epoch IS NULL BEGIN
    INSERT INTO events (kind, palace, drawer) SELECT 'drawer_deleted', name, old.uuid
        FROM palaces WHERE id = old.palace_id; END;
CREATE TRIGGER event_triple_asserted AFTER INSERT ON triples BEGIN
    INSERT INTO events (kind, palace) SELECT 'kg_changed', name
        FROM palaces WHERE id = new.palace_id; END;
CREATE TRIGGER event_triple_closed AFTER UPDATE OF valid_to ON triples BEGIN
    INSERT INTO events (kind, palace) SELECT 'kg_changed', name
        FROM palaces WHERE id = new.palace_id; END;
"""
"""The newest 1,000 changes, which any process may follow by `seq`. Drawers that go with a palace
make no events: the palace is gone when they are deleted."""

MIGRATIONS = (Migration(1, _TABLES + DREAM_TABLES + _EVENTS),)
