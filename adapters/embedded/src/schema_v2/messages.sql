-- Streams of messages and the offsets of their groups.
CREATE TABLE message_stream(
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    next_offset INTEGER NOT NULL DEFAULT 0,
    max_messages INTEGER,
    max_age_ms INTEGER
);
CREATE TABLE message(
    stream INTEGER NOT NULL REFERENCES message_stream(id),
    offset INTEGER NOT NULL,
    published_at_ms INTEGER NOT NULL,
    payload BLOB NOT NULL,
    PRIMARY KEY(stream, offset)
);
CREATE TABLE message_group(
    stream INTEGER NOT NULL REFERENCES message_stream(id),
    name TEXT NOT NULL,
    next_offset INTEGER NOT NULL,
    PRIMARY KEY(stream, name)
) WITHOUT ROWID;
-- Nodes that change envelopes made, and how far each partition of a source is.
CREATE TABLE change_node(
    node TEXT PRIMARY KEY,
    node_type TEXT NOT NULL,
    properties TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE change_cursor(
    id INTEGER PRIMARY KEY,
    source TEXT NOT NULL,
    part TEXT NOT NULL,
    position INTEGER,
    UNIQUE(source, part)
);
CREATE TABLE change_envelope(
    cursor INTEGER NOT NULL REFERENCES change_cursor(id),
    position INTEGER NOT NULL,
    content_digest BLOB NOT NULL,
    PRIMARY KEY(cursor, position)
) WITHOUT ROWID;
-- The newest changes of those nodes. The one row of change_feed says which feed this is and what comes next.
CREATE TABLE change_feed(
    id INTEGER PRIMARY KEY CHECK(id = 1),
    epoch INTEGER NOT NULL,
    next_seq INTEGER NOT NULL
);
INSERT INTO change_feed(id, epoch, next_seq) VALUES(1, random() & 0x7fffffffffffffff, 0);
CREATE TABLE change_log(
    seq INTEGER PRIMARY KEY,
    kind INTEGER NOT NULL,
    node TEXT NOT NULL,
    label TEXT NOT NULL,
    before TEXT,
    after TEXT
);
