//! The limit of the store: the same rows, into the same schema, with the same settings, 200 a transaction, nothing else.

use std::path::Path;
use std::time::Instant;

use rusqlite::Connection;
use rusqlite::types::Value;

/// Rows a transaction.
const BATCH: usize = 200;

pub(crate) fn same_rows(store: &Path, target: &Path) -> Result<f64, String> {
    copy(store, target).map_err(|error| error.to_string())
}

fn copy(store: &Path, target: &Path) -> rusqlite::Result<f64> {
    let source = Connection::open(store)?;
    let mut raw = Connection::open(target)?;
    let page_size: i64 = source.pragma_query_value(None, "page_size", |row| row.get(0))?;
    raw.pragma_update(None, "page_size", page_size)?;
    raw.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    raw.pragma_update(None, "synchronous", "FULL")?;
    raw.pragma_update(None, "cache_size", -65_536)?;
    let mut schema = source.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND tbl_name = 'record'")?;
    for sql in schema.query_map([], |row| row.get::<_, String>(0))? {
        raw.execute_batch(&sql?)?;
    }
    // The rows are in memory before the clock starts: reading them is not part of the limit.
    let mut select = source.prepare("SELECT * FROM record ORDER BY id")?;
    let columns = select.column_count();
    let rows: Vec<Vec<Value>> =
        select.query_map([], |row| (0..columns).map(|column| row.get(column)).collect())?.collect::<Result<_, _>>()?;
    let marks = vec!["?"; columns].join(",");
    let started = Instant::now();
    for batch in rows.chunks(BATCH) {
        let transaction = raw.transaction()?;
        {
            let mut insert = transaction.prepare_cached(&format!("INSERT INTO record VALUES({marks})"))?;
            for row in batch {
                insert.execute(rusqlite::params_from_iter(row))?;
            }
        }
        transaction.commit()?;
    }
    let seconds = started.elapsed().as_secs_f64();
    std::fs::remove_file(target).ok();
    Ok(seconds)
}
