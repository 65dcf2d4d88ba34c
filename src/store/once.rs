//! Creations and messages that are made once: a table of names, and for each of them a lock while
//! its request is under way.

use std::fmt;
use std::sync::Arc;

use rusqlite::{Row, Transaction};

use crate::clock::Millis;
use crate::error::{Error, Result};
use crate::store::fault::Fault;
use crate::store::file::beside;
use crate::store::lock::FileLock;
use crate::store::pages::{first, pack, unpack, wire};
use crate::store::{ClientStore, account};
use crate::text::safe;

/// The columns of a [`Creation`].
const CREATION_COLUMNS: &str = "project_id, name, begun, job, body, size, message_to";

/// A name at an address, of any owner: for a caller that has no such name.
const OF_OTHERS: &str =
    "account IN (SELECT id FROM account WHERE base_url = ?1) AND project_id = ?2 AND name = ?3";

/// A message, or a creation whose job `?5` no other creation in the project at the address has.
const JOB_IS_FREE: &str = "(message_to IS NOT NULL OR NOT EXISTS (
    SELECT 1 FROM once AS other WHERE account IN (SELECT id FROM account WHERE base_url = ?1) AND project_id = ?2
    AND name <> ?3 AND job = ?5 AND message_to IS NULL))";

/// A name, in its project.
#[derive(Debug, Clone)]
pub struct OnceKey {
    pub project_id: String,
    pub name: String,
}

/// The name, in quotes.
impl fmt::Display for OnceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", safe(&self.name, 256))
    }
}

/// The request of a name: the creation of a job, or a message to one.
#[derive(Debug, Clone)]
pub struct NamedWrite {
    pub prompt: Arc<str>,
    /// The job that a message is for; `None` for a creation.
    pub message_to: Option<String>,
}

/// A name in the store.
#[derive(Debug)]
pub struct Creation {
    pub key: OnceKey,
    /// As in [`NamedWrite`].
    pub message_to: Option<String>,
    /// When its request was about to leave; if the store was deleted since, when its answer came.
    pub begun: Millis,
    /// Its job, once the service or the user has confirmed the request; `None`: unknown, or under
    /// way.
    pub job: Option<CreatedJob>,
}

/// A job that was created, or got a message, under a name.
#[derive(Debug)]
pub struct CreatedJob {
    pub id: String,
    /// As the service showed it; `None` if the caller named the id.
    pub body: Option<Vec<u8>>,
}

/// A name, as a caller with a request finds it.
#[derive(Debug)]
pub enum NameRecord {
    /// No other call sends its request while the lock is held.
    Free(FileLock),
    /// Another call is sending its request.
    Creating,
    /// It is taken, by the same request. Without a job, its outcome is unknown.
    Taken(Creation),
    /// It is taken, by another request.
    OtherWrite(Creation),
    /// It is free, but another owner took it at this address, for the same request.
    OtherOwner(Creation),
}

/// The state of a name in a list.
#[derive(Debug, PartialEq, Eq)]
pub enum NameState {
    /// Its job is known.
    Created,
    Creating,
    Unknown,
}

/// The names of one account. A clone is the same.
#[derive(Debug, Clone)]
pub struct OnceNames(pub Arc<ClientStore>);

impl OnceNames {
    /// Looks at a name for a caller with this request. A name that is free is this caller's to
    /// send.
    pub async fn claim(&self, key: OnceKey, write: NamedWrite) -> Result<NameRecord> {
        let claim = self.0.writing(move |transaction, client| {
            let account = account::find(transaction, &client.owner)?;
            let sql = format!(
                "SELECT {CREATION_COLUMNS}, prompt FROM once WHERE account = ?1 AND project_id = ?2 AND name = ?3"
            );
            let ours = (account, &key.project_id, &key.name);
            let known = |row: &Row<'_>| Ok((read(row)?, row.get::<_, Vec<u8>>(7)?));
            let found = first(transaction, &sql, ours, known)?;
            let digest = digest(transaction, &write.prompt)?;
            let unknown = match found {
                Some((creation, known))
                    if known != digest || creation.message_to != write.message_to =>
                {
                    return Ok(NameRecord::OtherWrite(creation));
                }
                Some((creation, _)) if creation.job.is_some() => {
                    return Ok(NameRecord::Taken(creation));
                }
                Some((creation, _)) => Some(creation),
                None => {
                    let sql = format!(
                        "SELECT {CREATION_COLUMNS} FROM once WHERE {OF_OTHERS} AND prompt = ?4 AND message_to IS ?5"
                    );
                    let (base_url, to) = (&client.owner.base_url, &write.message_to);
                    let others = (base_url, &key.project_id, &key.name, digest, to);
                    if let Some(found) = first(transaction, &sql, others, read)? {
                        return Ok(NameRecord::OtherOwner(found));
                    }
                    None
                }
            };
            let lock = take_lock(transaction, client, &key)?;
            Ok(match (lock, unknown) {
                (None, _) => NameRecord::Creating,
                (Some(lock), None) => NameRecord::Free(lock),
                (Some(_), Some(creation)) => NameRecord::Taken(creation),
            })
        });
        self.0.store.run(claim).await
    }

    /// Those of a project, in order.
    pub async fn all(&self, project_id: String) -> Result<Vec<(Creation, NameState)>> {
        let look = self.0.writing(move |transaction, client| {
            let Some(account) = account::find(transaction, &client.owner)? else {
                return Ok(Vec::new());
            };
            let sql = format!(
                "SELECT {CREATION_COLUMNS} FROM once WHERE account = ?1 AND project_id = ?2 ORDER BY name"
            );
            let state = |row: &Row<'_>| {
                let creation = read(row)?;
                let state = match &creation.job {
                    Some(_) => NameState::Created,
                    None => match take_lock(transaction, client, &creation.key)? {
                        Some(_) => NameState::Unknown,
                        None => NameState::Creating,
                    },
                };
                Ok((creation, state))
            };
            let mut all = transaction.prepare(&sql)?;
            all.query_and_then((account, &project_id), state)?.collect()
        });
        self.0.store.run(look).await
    }

    /// Notes that the request of a name is about to leave: on the disk when this returns.
    pub async fn begin(&self, key: OnceKey, write: NamedWrite) -> Result<()> {
        let begin = self.0.writing(move |transaction, client| {
            let account = account::number(transaction, &client.owner)?;
            let (prompt, begun) = (digest(transaction, &write.prompt)?, client.clock.now());
            transaction.execute(
                "INSERT INTO once (account, project_id, name, prompt, begun, message_to) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                (account, &key.project_id, &key.name, prompt, begun, &write.message_to),
            )?;
            Ok(())
        });
        self.0.store.run(begin).await
    }

    /// Frees a name under which nothing was done; `failed` gets the error if that cannot be
    /// written. Does not wait for it.
    pub(crate) fn free(&self, key: OnceKey, failed: impl FnOnce(Error) + Send + 'static) {
        let write = self.0.writing(move |transaction, client| {
            if let Some(account) = account::find(transaction, &client.owner)? {
                free(transaction, account, &key)?;
            }
            Ok(())
        });
        self.0.store.post(write, failed);
    }

    /// Records the job of a name, even if the store was deleted since. A name that has another
    /// request or job stays as it is. `failed` gets the error if that cannot be written.
    /// [`OnceNames::written`] waits for it.
    pub(crate) fn done(
        &self,
        key: OnceKey,
        write: NamedWrite,
        job: CreatedJob,
        failed: impl FnOnce(Error) + Send + 'static,
    ) {
        let note = self.0.writing(move |transaction, client| {
            let account = account::number(transaction, &client.owner)?;
            let (body, size) = packed(job.body.as_deref())?;
            transaction.execute(
                "INSERT INTO once (account, project_id, name, prompt, begun, job, body, size, message_to)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
                 ON CONFLICT DO UPDATE SET job = excluded.job, body = excluded.body, size = excluded.size
                 WHERE prompt = excluded.prompt AND message_to IS excluded.message_to
                 AND coalesce(job, excluded.job) = excluded.job",
                (
                    account,
                    &key.project_id,
                    &key.name,
                    digest(transaction, &write.prompt)?,
                    client.clock.now(),
                    &job.id,
                    body,
                    size,
                    &write.message_to,
                ),
            )?;
            Ok(())
        });
        self.0.store.post(note, failed);
    }

    /// Returns when all that was noted before is on the disk, or has failed.
    pub(crate) async fn written(&self) -> Result<()> {
        self.0.store.see_to(|_| Ok(())).await
    }

    /// Records an outcome that was unknown: a name's job, or that there is none.
    ///
    /// - `true`: it is recorded.
    /// - `false`: there is no such name, another outcome is known, its message is for another job, or another creation has the job.
    /// - `None`: its request is under way.
    ///
    /// If only another owner at this address has the name, the job is recorded for this owner, and
    /// the other's record stays as it was. Without a job, the name is freed there.
    pub async fn resolve(&self, key: OnceKey, job: Option<CreatedJob>) -> Result<Option<bool>> {
        let write = self.0.writing(move |transaction, client| {
            let (body, size) = packed(job.as_ref().and_then(|job| job.body.as_deref()))?;
            // Dropped before the end of the transaction, so that no other call sees it.
            let Some(_lock) = take_lock(transaction, client, &key)? else {
                return Ok(None);
            };
            let account = account::number(transaction, &client.owner)?;
            let ours = (account, &key.project_id, &key.name);
            let sql = "SELECT 1 FROM once WHERE account = ?1 AND project_id = ?2 AND name = ?3";
            let is_ours = transaction.prepare(sql)?.exists(ours)?;
            let (base_url, OnceKey { project_id, name }) = (&client.owner.base_url, &key);
            let changed = match &job {
                Some(job) => {
                    let sql = match is_ours {
                        // The same job again adds at most its body.
                        true => format!(
                            "UPDATE once SET job = ?5, body = coalesce(body, ?6), size = coalesce(size, ?7)
                             WHERE account = ?4 AND project_id = ?2 AND name = ?3
                             AND coalesce(job, message_to, ?5) = ?5 AND {JOB_IS_FREE}"
                        ),
                        false => format!(
                            "INSERT INTO once (account, project_id, name, prompt, begun, job, body, size, message_to)
                             SELECT ?4, project_id, name, prompt, begun, ?5, ?6, ?7, message_to FROM once
                             WHERE {OF_OTHERS} AND coalesce(job, message_to, ?5) = ?5 AND {JOB_IS_FREE} LIMIT 1"
                        ),
                    };
                    transaction.execute(
                        &sql,
                        (base_url, project_id, name, account, &job.id, body, size),
                    )?
                }
                None if is_ours => free(transaction, account, &key)?,
                None => transaction.execute(
                    &format!("DELETE FROM once WHERE {OF_OTHERS} AND job IS NULL"),
                    (base_url, project_id, name),
                )?,
            };
            Ok(Some(changed > 0))
        });
        self.0.store.see_to(write).await
    }
}

/// Removes a name whose job is unknown; returns how many were there.
fn free(transaction: &Transaction<'_>, account: i64, key: &OnceKey) -> rusqlite::Result<usize> {
    let sql =
        "DELETE FROM once WHERE account = ?1 AND project_id = ?2 AND name = ?3 AND job IS NULL";
    transaction.execute(sql, (account, &key.project_id, &key.name))
}

/// A text as the store knows it again without holding it.
fn digest(transaction: &Transaction<'_>, text: &str) -> Result<Vec<u8>, Fault> {
    let salt = account::salt(transaction)?;
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &salt);
    Ok(ring::hmac::sign(&key, text.as_bytes()).as_ref().to_vec())
}

fn packed(body: Option<&[u8]>) -> Result<(Option<Vec<u8>>, Option<i64>), Fault> {
    let size = body.map(|body| wire(body.len() as u64));
    Ok((body.map(pack).transpose()?, size))
}

/// The [`CREATION_COLUMNS`].
fn read(row: &Row<'_>) -> Result<Creation, Fault> {
    let body = match row.get(4)? {
        Some(body) => Some(unpack(body, row.get(5)?)?),
        None => None,
    };
    let id = row.get::<_, Option<_>>(3)?;
    Ok(Creation {
        key: OnceKey {
            project_id: row.get(0)?,
            name: row.get(1)?,
        },
        message_to: row.get(6)?,
        begun: row.get(2)?,
        job: id.map(|id| CreatedJob { id, body }),
    })
}

/// Bytes of a lock's name.
const LOCK_NAME: usize = 8;

/// Takes the right to send the request of a name, unless another call has it. A name that nobody
/// has locked, and that has no job, has an unknown outcome, or was left by a process that died. A
/// caller that only looks takes the lock, too, and drops it before its `transaction` ends. No other
/// call can begin one meanwhile.
fn take_lock(
    transaction: &Transaction<'_>,
    client: &ClientStore,
    key: &OnceKey,
) -> Result<Option<FileLock>, Fault> {
    // The same for all: another key or organization may resolve the name.
    let words = [&client.owner.base_url, &key.project_id, &key.name].map(String::as_str);
    let name = digest(transaction, &words.join("\0"))?;
    let name = name
        .iter()
        .take(LOCK_NAME)
        .fold("-once-".to_owned(), |hex, byte| {
            hex + &format!("{byte:02x}")
        });
    FileLock::take(beside(client.store.path(), &name))
}
