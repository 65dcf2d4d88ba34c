//! Keeps the statements of the simulated store, so that SQLite compiles each of them once and not
//! once a use: that took half of a run. `make simulate` has the linker give SQLite's two functions
//! for it to these (`--wrap`); the client is as it is.

#![allow(unsafe_code, reason = "called by a library in C")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{c_char, c_int, c_uint};
use std::slice;

use rusqlite::Connection;
use rusqlite::ffi::{
    SQLITE_OK, SQLITE_PREPARE_PERSISTENT, sqlite3, sqlite3_clear_bindings, sqlite3_reset,
    sqlite3_stmt,
};
use xxhash_rust::xxh3::xxh3_64;

unsafe extern "C" {
    fn __real_sqlite3_prepare_v3(
        db: *mut sqlite3,
        sql: *const c_char,
        length: c_int,
        flags: c_uint,
        statement: *mut *mut sqlite3_stmt,
        tail: *mut *const c_char,
    ) -> c_int;
    fn __real_sqlite3_finalize(statement: *mut sqlite3_stmt) -> c_int;
}

thread_local! {
    static KEPT: RefCell<Kept> = RefCell::default();
}

#[derive(Default)]
struct Kept {
    /// The connection whose statements are kept.
    of: Option<*mut sqlite3>,
    /// By the hashes of their texts, those that nobody uses now, and how much of the text each is.
    idle: BTreeMap<u64, Vec<(*mut sqlite3_stmt, usize)>>,
    /// Those in use, with the same.
    used: Vec<(*mut sqlite3_stmt, usize, u64)>,
}

/// From now on the statements of this connection are kept.
pub(crate) fn keep(connection: &Connection) {
    // SAFETY: it is only compared.
    let of = Some(unsafe { connection.handle() });
    // Those of the one before stay with it.
    KEPT.set(Kept {
        of,
        ..Kept::default()
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_sqlite3_prepare_v3(
    db: *mut sqlite3,
    sql: *const c_char,
    length: c_int,
    flags: c_uint,
    statement: *mut *mut sqlite3_stmt,
    tail: *mut *const c_char,
) -> c_int {
    // SAFETY: the arguments are what SQLite asks for; `rusqlite` gives a length.
    unsafe {
        let (Ok(size), true) = (
            usize::try_from(length),
            KEPT.with_borrow(|kept| kept.of == Some(db)),
        ) else {
            return __real_sqlite3_prepare_v3(db, sql, length, flags, statement, tail);
        };
        let text = xxh3_64(slice::from_raw_parts(sql.cast::<u8>(), size));
        let known = KEPT.with_borrow_mut(|kept| {
            let found = kept.idle.get_mut(&text)?.pop()?;
            kept.used.push((found.0, found.1, text));
            Some(found)
        });
        if let Some((known, length)) = known {
            *statement = known;
            *tail = sql.add(length);
            return SQLITE_OK;
        }
        let code =
            __real_sqlite3_prepare_v3(db, sql, length, SQLITE_PREPARE_PERSISTENT, statement, tail);
        if code == SQLITE_OK && !(*statement).is_null() {
            let length = usize::try_from((*tail).offset_from(sql)).unwrap_or(size);
            KEPT.with_borrow_mut(|kept| kept.used.push((*statement, length, text)));
        }
        code
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_sqlite3_finalize(statement: *mut sqlite3_stmt) -> c_int {
    let its = KEPT.with_borrow_mut(|kept| {
        // The last one begun is mostly the first one done with.
        let place = kept.used.iter().rposition(|used| used.0 == statement)?;
        Some(kept.used.remove(place))
    });
    // SAFETY: it is a statement in use, and goes back to those that are not.
    unsafe {
        let Some((_, length, text)) = its else {
            return __real_sqlite3_finalize(statement);
        };
        let code = sqlite3_reset(statement);
        sqlite3_clear_bindings(statement);
        KEPT.with_borrow_mut(|kept| kept.idle.entry(text).or_default().push((statement, length)));
        code
    }
}
