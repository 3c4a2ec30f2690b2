-- Queued work. A row is ready (0), scheduled (1), leased (2), or ended: succeeded (3), failed (4), dead letter (5), cancelled (6).
CREATE TABLE work_item (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    kind         TEXT    NOT NULL,
    key          TEXT    NOT NULL,
    payload      TEXT    NOT NULL,
    priority     INTEGER NOT NULL,
    max_attempts INTEGER NOT NULL,
    state        INTEGER NOT NULL DEFAULT 0,
    attempt      INTEGER NOT NULL DEFAULT 0,
    fence        INTEGER NOT NULL DEFAULT 0,
    worker       TEXT,
    -- Scheduled: when it is ready. Leased: when the lease ends.
    due_ms       INTEGER,
    -- What the attempt with this fence ended with, to answer the same call again.
    effect       BLOB,
    code         TEXT,
    settled      INTEGER,
    settled_fence INTEGER,
    updated_ms   INTEGER NOT NULL,
    UNIQUE (kind, key)
) STRICT;
-- The next of a kind is the first entry; what waits for a time is in the other index, not in front of it.
CREATE INDEX work_ready ON work_item (kind, priority, id) WHERE state = 0;
CREATE INDEX work_due ON work_item (due_ms) WHERE state IN (1, 2);

CREATE TABLE work_lane (
    name     TEXT    PRIMARY KEY,
    capacity INTEGER NOT NULL,
    floor    INTEGER NOT NULL,
    policy   TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE work_hold (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    lane       TEXT    NOT NULL,
    worker     TEXT    NOT NULL,
    expires_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX work_hold_lane ON work_hold (lane, expires_ms);
