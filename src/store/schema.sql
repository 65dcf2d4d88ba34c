-- The store, version 1; what later versions added stands in files of its own. docs/store-tables.md says what it means. Times are
-- milliseconds since 1970.

CREATE TABLE meta (name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;

CREATE TABLE account (
    id           INTEGER PRIMARY KEY,
    base_url     TEXT NOT NULL,
    organization TEXT NOT NULL,
    UNIQUE (base_url, organization)
);

CREATE TABLE request (
    id       INTEGER PRIMARY KEY,
    account  INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    at       INTEGER NOT NULL,
    answered INTEGER,
    until    INTEGER NOT NULL
);
CREATE INDEX request_until ON request (account, until);

CREATE TABLE told (
    account   INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    name      TEXT NOT NULL,
    at        INTEGER NOT NULL,
    until     INTEGER NOT NULL,
    remaining INTEGER NOT NULL,
    PRIMARY KEY (account, name)
) WITHOUT ROWID;

CREATE TABLE export (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    account    INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    project_id TEXT,
    path       TEXT NOT NULL,
    date_from  TEXT,
    date_to    TEXT,
    kind       TEXT NOT NULL CHECK (kind IN ('pages', 'totals')),
    page_size  INTEGER NOT NULL,
    begun      INTEGER NOT NULL,
    finished   INTEGER,
    pages      INTEGER,
    rows       INTEGER,
    human      INTEGER,
    ai         INTEGER,
    total      INTEGER
);
-- The latest of a range, however often it was fetched.
CREATE INDEX export_finished ON export (account, project_id, path, date_from, date_to, kind, begun)
    WHERE finished IS NOT NULL;
CREATE INDEX export_unfinished ON export (account, project_id, path, date_from, date_to, kind, page_size)
    WHERE finished IS NULL;
-- Those of the future: a clock was set back.
CREATE INDEX export_begun ON export (begun);

CREATE TABLE page (
    export   INTEGER NOT NULL REFERENCES export (id) ON DELETE CASCADE,
    "offset" INTEGER NOT NULL,
    asked    INTEGER NOT NULL,
    rows     INTEGER NOT NULL,
    has_more INTEGER NOT NULL,
    seen     INTEGER NOT NULL,
    size     INTEGER NOT NULL,
    body     BLOB NOT NULL,
    PRIMARY KEY (export, "offset")
);

-- What there is of an export, without touching the bodies; and which of them have seen their end.
CREATE INDEX page_place ON page (export, "offset", asked, rows, has_more);
CREATE INDEX page_last ON page (export) WHERE has_more = 0;

-- For tools that do not enforce foreign keys.
CREATE TRIGGER export_deleted AFTER DELETE ON export BEGIN
    DELETE FROM page WHERE export = old.id;
END;
