"""The tables in which the consolidation of drawers keeps its position, its keys and its log.

`dream_queue` holds the drawers that were written or brought back since the last consolidation:
triggers fill it, so no process that writes has to know of it, and with an empty queue there is
nothing to do. `drawer_keys` finds the drawers whose texts may say the same: texts that are similar
share a key. `dream_changes` is the log: it names drawers by their UUIDs and holds nothing of their
texts, so that a drawer that is deleted for good is in no table.
"""

from __future__ import annotations

DREAM_TABLES = """
CREATE INDEX drawers_superseded_by ON drawers (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX drawers_by_use ON drawers (
    palace_id, importance DESC, max(updated_at_epoch, coalesce(recalled_at_epoch, 0)) DESC
) WHERE deleted_at_epoch IS NULL AND superseded_by IS NULL;
CREATE TABLE dream_queue (
    drawer_id INTEGER PRIMARY KEY REFERENCES drawers (id) ON DELETE CASCADE
);
CREATE TRIGGER drawer_to_dream AFTER INSERT ON drawers
    WHEN new.deleted_at_epoch IS NULL BEGIN
    INSERT OR IGNORE INTO dream_queue VALUES (new.id); END;
CREATE TRIGGER drawer_to_dream_again
    AFTER UPDATE OF text, room_key, deleted_at_epoch ON drawers
    WHEN new.deleted_at_epoch IS NULL BEGIN
    INSERT OR IGNORE INTO dream_queue VALUES (new.id); END;
CREATE TRIGGER drawer_not_to_dream AFTER UPDATE OF deleted_at_epoch ON drawers
    WHEN new.deleted_at_epoch IS NOT NULL BEGIN
    DELETE FROM dream_queue WHERE drawer_id = new.id; END;
CREATE TABLE drawer_keys (
    palace_id INTEGER NOT NULL,
    key INTEGER NOT NULL,
    drawer_id INTEGER NOT NULL REFERENCES drawers (id) ON DELETE CASCADE,
    PRIMARY KEY (palace_id, key, drawer_id)
) WITHOUT ROWID;
CREATE INDEX drawer_keys_of_drawer ON drawer_keys (drawer_id);
CREATE TABLE closets (
    palace_id INTEGER NOT NULL REFERENCES palaces (id) ON DELETE CASCADE,
    room_key TEXT NOT NULL,
    room TEXT NOT NULL,
    words TEXT NOT NULL,
    PRIMARY KEY (palace_id, room_key)
) WITHOUT ROWID;
CREATE TABLE dreams (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    began_at_epoch INTEGER NOT NULL
);
CREATE TABLE dream_changes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    dream_id INTEGER NOT NULL REFERENCES dreams (id) ON DELETE CASCADE,
    step TEXT NOT NULL,
    palace_id INTEGER NOT NULL REFERENCES palaces (id) ON DELETE CASCADE,
    drawer TEXT NOT NULL,
    before TEXT NOT NULL,
    after TEXT NOT NULL,
    changed_at_epoch INTEGER NOT NULL,
    undone_at_epoch INTEGER
);
CREATE INDEX dream_changes_of_dream ON dream_changes (dream_id);
CREATE INDEX dream_changes_of_drawer ON dream_changes (drawer);
CREATE INDEX dream_changes_of_palace ON dream_changes (palace_id);
"""
