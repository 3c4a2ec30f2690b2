//! Use cases: ingest, source synchronisation, stages and supervision
