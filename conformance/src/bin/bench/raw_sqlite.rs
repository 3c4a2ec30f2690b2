//! The limit of the store: the same rows, into the same schema, with the same settings, 200 a transaction, nothing else. From no
//! file to a closed one, as a sync is measured: closing copies the write-ahead log into the file.

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
    let page_size: i64 = source.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let sql = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND tbl_name IN ('record', 'indexed_value')";
    let schema: Vec<String> = source.prepare(sql)?.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    // The rows are in memory before the clock starts: reading them is not part of the limit.
    let records = rows(&source, "SELECT * FROM record ORDER BY id")?;
    let values = rows(&source, "SELECT * FROM indexed_value ORDER BY record")?;
    let mut values = values.into_iter().peekable();
    let insert_record =
        format!("INSERT INTO record VALUES({})", vec!["?"; records.first().map_or(1, Vec::len)].join(","));
    let started = Instant::now();
    let mut raw = Connection::open(target)?;
    raw.pragma_update(None, "page_size", page_size)?;
    raw.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    raw.pragma_update(None, "synchronous", "FULL")?;
    // As the store sets them: checkpoints less often than by default are faster.
    raw.pragma_update(None, "cache_size", -32_768)?;
    raw.pragma_update_and_check(None, "wal_autocheckpoint", 2048, |_| Ok(()))?;
    raw.pragma_update_and_check(None, "journal_size_limit", 16 << 20, |_| Ok(()))?;
    for sql in &schema {
        raw.execute_batch(sql)?;
    }
    for batch in records.chunks(BATCH) {
        let transaction = raw.transaction()?;
        {
            let mut add_record = transaction.prepare_cached(&insert_record)?;
            let mut add_value = transaction.prepare_cached("INSERT INTO indexed_value VALUES(?, ?, ?)")?;
            for row in batch {
                add_record.execute(rusqlite::params_from_iter(row))?;
                while let Some(value) = values.next_if(|value| value[2] == row[0]) {
                    add_value.execute(rusqlite::params_from_iter(value))?;
                }
            }
        }
        transaction.commit()?;
    }
    raw.close().map_err(|(_, error)| error)?;
    let seconds = started.elapsed().as_secs_f64();
    std::fs::remove_file(target).ok();
    Ok(seconds)
}

fn rows(source: &Connection, sql: &str) -> rusqlite::Result<Vec<Vec<Value>>> {
    let mut select = source.prepare(sql)?;
    let columns = select.column_count();
    select.query_map([], |row| (0..columns).map(|column| row.get(column)).collect())?.collect()
}
