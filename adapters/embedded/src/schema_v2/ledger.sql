-- Changes on their way back to a source, and what came of them.
CREATE TABLE write_back_change(
    id INTEGER PRIMARY KEY,
    change_set_id TEXT NOT NULL UNIQUE,
    digest BLOB NOT NULL UNIQUE,
    change TEXT NOT NULL
);
CREATE TABLE write_back_entry(
    change INTEGER NOT NULL REFERENCES write_back_change(id),
    sequence INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    status INTEGER NOT NULL,
    pre_source_version TEXT,
    post_source_version TEXT,
    observation_digest BLOB NOT NULL,
    PRIMARY KEY(change, sequence)
) WITHOUT ROWID;
