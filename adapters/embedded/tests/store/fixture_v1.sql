-- Names that repeat are interned once; everything else refers to their integer keys.
CREATE TABLE counter(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO counter VALUES('graph_version', 0);

CREATE TABLE connector(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);

CREATE TABLE stream(
    id INTEGER PRIMARY KEY,
    connector INTEGER NOT NULL REFERENCES connector,
    name TEXT NOT NULL,
    checkpoint TEXT,
    checkpoint_digest BLOB,
    last_batch BLOB,
    graph_version INTEGER,
    last_commit_unix_ms INTEGER,
    batches INTEGER NOT NULL DEFAULT 0,
    live INTEGER NOT NULL DEFAULT 0,
    withdrawn INTEGER NOT NULL DEFAULT 0,
    edges INTEGER NOT NULL DEFAULT 0,
    UNIQUE(connector, name)
);

CREATE TABLE pack(
    connector INTEGER PRIMARY KEY REFERENCES connector,
    revision INTEGER NOT NULL,
    digest BLOB NOT NULL
);

CREATE TABLE pack_entry(
    connector INTEGER NOT NULL REFERENCES connector,
    uri TEXT NOT NULL,
    kind TEXT NOT NULL,
    media_type TEXT NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY(connector, uri)
) WITHOUT ROWID;

-- A record type under one class; a declaration that changes the class gets a new row.
CREATE TABLE mapping(
    id INTEGER PRIMARY KEY,
    connector INTEGER NOT NULL REFERENCES connector,
    record_type TEXT NOT NULL,
    class TEXT NOT NULL,
    UNIQUE(connector, record_type, class)
);
CREATE TABLE property(id INTEGER PRIMARY KEY, iri TEXT NOT NULL UNIQUE, indexed INTEGER NOT NULL DEFAULT 0);
CREATE TABLE mapping_property(
    mapping INTEGER NOT NULL REFERENCES mapping,
    property INTEGER NOT NULL REFERENCES property,
    PRIMARY KEY(mapping, property)
) WITHOUT ROWID;
CREATE TABLE relation(
    id INTEGER PRIMARY KEY,
    connector INTEGER NOT NULL REFERENCES connector,
    reference TEXT NOT NULL UNIQUE,
    predicate TEXT NOT NULL
);
CREATE TABLE provenance(
    id INTEGER PRIMARY KEY,
    connector INTEGER NOT NULL REFERENCES connector,
    adapter_kind TEXT NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    tool_schema BLOB NOT NULL,
    UNIQUE(connector, adapter_kind, server, tool, tool_schema)
);

-- state: 0 only named by an edge, 1 live, 2 withdrawn. digests: content digest, then raw digest.
-- source_uri: NULL or 1 when it has the standard form, plain or percent-encoded; else the text.
CREATE TABLE record(
    id INTEGER PRIMARY KEY,
    stream INTEGER NOT NULL,
    record_id TEXT NOT NULL,
    state INTEGER NOT NULL,
    mapping INTEGER,
    provenance INTEGER,
    updated_at TEXT,
    source_uri,
    digests BLOB,
    payload BLOB
);
CREATE UNIQUE INDEX record_identity ON record(stream, record_id);
CREATE INDEX record_live ON record(mapping, stream) WHERE state = 1;
CREATE INDEX record_absent ON record(stream, state) WHERE state <> 1;

CREATE TABLE tombstone(record INTEGER PRIMARY KEY, reason TEXT NOT NULL, graph_version INTEGER NOT NULL);

CREATE TABLE edge(
    relation INTEGER NOT NULL,
    source INTEGER NOT NULL,
    target INTEGER NOT NULL,
    provenance INTEGER NOT NULL,
    properties TEXT,
    PRIMARY KEY(relation, source, target)
) WITHOUT ROWID;
CREATE INDEX edge_in ON edge(target, relation, source);

-- Values of the properties whose `indexed` is 1, live records only.
CREATE TABLE indexed_value(
    property INTEGER NOT NULL,
    value BLOB NOT NULL,
    record INTEGER NOT NULL,
    PRIMARY KEY(property, value, record)
) WITHOUT ROWID;

CREATE TABLE receipt(
    stream INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    batch BLOB NOT NULL,
    contract_digest BLOB NOT NULL,
    contract_revision INTEGER NOT NULL,
    graph_version INTEGER NOT NULL,
    deduplicated BLOB NOT NULL,
    withdrawn BLOB NOT NULL,
    receipt_digest BLOB NOT NULL,
    PRIMARY KEY(stream, sequence)
) WITHOUT ROWID;
CREATE INDEX receipt_by_batch ON receipt(stream, batch, sequence);

-- A deleted key keeps its row with a NULL value, so that no version is used twice.
CREATE TABLE key_value(
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    value BLOB,
    PRIMARY KEY(namespace, key)
) WITHOUT ROWID;

PRAGMA application_id = 1399023983;
PRAGMA user_version = 1;
INSERT INTO connector VALUES(1, 'desk');
INSERT INTO stream(id, connector, name, checkpoint, checkpoint_digest, last_batch, graph_version, last_commit_unix_ms, batches, live, withdrawn, edges)
    VALUES(1, 1, 'tickets', '{"position":{"page":2}}', zeroblob(32), zeroblob(32), 1, 1790000000000, 1, 2, 1, 1);
INSERT INTO mapping VALUES(1, 1, 'Ticket', 'urn:scion:desk#Ticket');
INSERT INTO property VALUES(1, 'urn:scion:desk#title', 1);
INSERT INTO mapping_property VALUES(1, 1);
INSERT INTO relation VALUES(1, 1, 'connector:desk#relations/Ticket/parent', 'urn:scion:desk#parent');
INSERT INTO provenance VALUES(1, 1, 'mcp_tool', 'desk', 'list', zeroblob(32));
INSERT INTO record VALUES(1, 1, 'a', 1, 1, 1, '2026-01-01', NULL, zeroblob(64), x'010603616263');
INSERT INTO record VALUES(2, 1, 'b', 1, 1, 1, NULL, 'https://desk.example/b', zeroblob(64), x'');
INSERT INTO record VALUES(3, 1, 'c', 2, 1, 1, NULL, NULL, NULL, NULL);
INSERT INTO tombstone VALUES(3, 'deleted', 1);
INSERT INTO edge VALUES(1, 1, 2, 1, NULL);
INSERT INTO indexed_value VALUES(1, x'06616263', 1);
INSERT INTO key_value VALUES('n', 'k', 4, x'6f6e65');
UPDATE counter SET value = 1;
