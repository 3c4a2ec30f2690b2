//! Opening connections with the settings the store's promises rest on.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};
use scion_domain::sink::StoreRefusal;

use crate::failure::Outcome;
use crate::{StoreOptions, schema};

/// Bytes of the file header that are looked at.
const HEADER: usize = 100;

/// Prepared statements kept per connection; the store has fewer.
const STATEMENTS: usize = 96;

/// WAL pages after which a commit copies them into the file: 8 MiB.
const CHECKPOINT_PAGES: i64 = 2048;

/// The WAL file is cut back to this size once it has been copied.
const WAL_LIMIT: i64 = 16 << 20;

/// Opens for writing; makes the file when it is missing.
pub(crate) fn open_writer(path: &Path, options: &StoreOptions) -> Outcome<Connection> {
    check_length(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    prepare(&connection, options, options.writer_cache_kib)?;
    if connection.is_readonly("main")? {
        return Err(StoreRefusal::ReadOnly.into());
    }
    if let Some(pages) = options.max_pages {
        connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    }
    // Reading the header first: a file that is no database is refused before anything is written to it.
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    let mode: String = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if !mode.eq_ignore_ascii_case("wal") {
        return Err(
            StoreRefusal::Unavailable { what: "its file system has no shared memory for the write-ahead log" }.into()
        );
    }
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update_and_check(None, "wal_autocheckpoint", CHECKPOINT_PAGES, |_| Ok(()))?;
    connection.pragma_update_and_check(None, "journal_size_limit", WAL_LIMIT, |_| Ok(()))?;
    schema::migrate(&mut connection)?;
    Ok(connection)
}

/// Opens for reading only; the file must be there.
pub(crate) fn open_reader(path: &Path, options: &StoreOptions) -> Outcome<Connection> {
    check_length(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    prepare(&connection, options, options.reader_cache_kib)?;
    connection.pragma_update(None, "query_only", true)?;
    schema::check(&connection)?;
    Ok(connection)
}

/// Refuses a file that was cut off. SQLite itself fills a partial last page with zeros and goes on.
///
/// While there is a write-ahead log the file may rightly be shorter than its header says, so only a file without one is
/// checked.
fn check_length(path: &Path) -> Outcome<()> {
    let mut wal = path.as_os_str().to_owned();
    wal.push("-wal");
    if std::fs::metadata(&wal).is_ok_and(|meta| meta.len() > 0) {
        return Ok(());
    }
    let mut header = [0; HEADER];
    let read = File::open(path).and_then(|mut file| {
        file.read_exact(&mut header)?;
        file.metadata()
    });
    let Ok(meta) = read else {
        // Missing, empty or not readable: opening says so. Anything else that is shorter than a header is no store.
        let length = std::fs::metadata(path).map_or(0, |meta| if meta.is_file() { meta.len() } else { 0 });
        return if length > 0 && length < HEADER as u64 { Err(StoreRefusal::Corrupt.into()) } else { Ok(()) };
    };
    if !header.starts_with(b"SQLite format 3\0") {
        return Ok(());
    }
    // File format, 1.3: the page size is two bytes at 16, where 1 means 65,536; the page count is four bytes at 28.
    let page = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 65_536,
        size => u64::from(size),
    };
    let pages = u64::from(u32::from_be_bytes([header[28], header[29], header[30], header[31]]));
    let whole = page > 0 && meta.len() % page == 0 && meta.len() >= pages * page;
    if whole { Ok(()) } else { Err(StoreRefusal::Corrupt.into()) }
}

fn prepare(connection: &Connection, options: &StoreOptions, cache_kib: u32) -> Outcome<()> {
    connection.busy_timeout(options.busy_timeout)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.pragma_update(None, "cache_size", -i64::from(cache_kib))?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // Page contents of a damaged file are checked instead of trusted.
    connection.pragma_update(None, "cell_size_check", true)?;
    Ok(())
}
