//! Writes rows into a file: those of a table, or those of an export as its pages come.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::PathBuf;
use std::sync::Arc;

use tokio::task::spawn_blocking;

use crate::error::Result;
use crate::export::observer::ExportObserver;
use crate::export::stream::ExportStream;
use crate::listing::rows::Row;
use crate::table::Table;
use crate::table::files::{CompleteFile, WholeFile};
use crate::table::formats::{Encoder, Format};
use crate::table::layout::Layout;

/// How many bytes are gathered before they are written.
const BLOCK: usize = 256 * 1024;
/// Rows of a table that are encoded at once.
const STRIDE: usize = 4096;

pub struct FileWriter {
    file: WholeFile,
    target: PathBuf,
    encoder: Encoder,
    buffer: Vec<u8>,
}

#[derive(Debug)]
pub struct WrittenFile {
    /// The complete file. The caller puts it in its place.
    pub file: CompleteFile,
    pub rows: u64,
}

impl FileWriter {
    /// Begins a file for `target`; an error if it cannot be written, before anything is fetched.
    pub fn begin(target: PathBuf, format: Format, layout: Layout) -> io::Result<Self> {
        let (file, encoder) = (WholeFile::create(&target)?, Encoder::new(format, layout));
        Ok(Self {
            file,
            target,
            encoder,
            buffer: Vec::new(),
        })
    }

    /// Writes a table; returns the number of its rows.
    pub fn table(target: PathBuf, format: Format, table: &Table) -> io::Result<usize> {
        let mut writer = Self::begin(target, format, table.layout)?;
        let mut rest = table.rows();
        loop {
            let some: Vec<_> = rest.by_ref().take(STRIDE).collect();
            if some.is_empty() {
                break;
            }
            writer
                .encoder
                .encode(some.iter().copied(), &mut writer.buffer)?;
            if writer.is_full() {
                writer = writer.flush()?;
            }
        }
        writer.end()?.commit()?;
        Ok(table.len())
    }

    /// Writes what is left of an export, page by page, in constant memory. `Ok(Err(_))`: the file
    /// cannot be written. Dropping the future leaves the target as it was.
    pub async fn pages(
        mut self,
        stream: &mut ExportStream,
        observer: &Arc<dyn ExportObserver>,
    ) -> Result<io::Result<WrittenFile>> {
        let mut count = 0;
        while let Some(turn) = stream.next(observer).await? {
            let days = turn.position.days;
            let rows = turn.rows.iter().map(|row| Row { days, ..row });
            if let Err(error) = self.encoder.encode(rows, &mut self.buffer) {
                return Ok(Err(error));
            }
            count += turn.rows.len() as u64;
            stream.last = Some(turn.position);
            observer.found(turn.findings);
            observer.progress(count);
            if self.is_full() {
                self = match run_blocking(|| self.flush()).await {
                    Ok(writer) => writer,
                    Err(error) => return Ok(Err(error)),
                };
            }
        }
        Ok(run_blocking(|| self.end())
            .await
            .map(|file| WrittenFile { file, rows: count }))
    }

    fn is_full(&self) -> bool {
        self.buffer.len() >= BLOCK
    }

    fn flush(mut self) -> io::Result<Self> {
        self.file.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(self)
    }

    fn end(mut self) -> io::Result<CompleteFile> {
        self.encoder.end(&mut self.buffer)?;
        let written = self.flush()?;
        if !written.encoder.is_ragged() {
            return written.file.seal();
        }
        let mended = WholeFile::create(&written.target)?;
        let copy = File::options().write(true).open(mended.path())?;
        written
            .encoder
            .mend(File::open(written.file.path())?, BufWriter::new(copy))?;
        mended.seal()
    }
}

/// Runs disk work on a thread that may wait, because a disk may be slow.
pub async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(io::Error::other(error)))
}
