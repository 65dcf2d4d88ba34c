-- Added by version 2. A creation that is made once, by its name. Without a job, its outcome is unknown, or its request is under way.
CREATE TABLE once (
    account    INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    project_id TEXT NOT NULL,
    name       TEXT NOT NULL,
    prompt     BLOB NOT NULL,
    begun      INTEGER NOT NULL,
    job        TEXT,
    body       BLOB,
    size       INTEGER,
    PRIMARY KEY (account, project_id, name)
);
