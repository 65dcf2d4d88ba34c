//! Rows as CSV and as JSON Lines.

use std::io::{self, Write as _};

use csv::{ReaderBuilder, Terminator, WriterBuilder};

use crate::table::extras::{self, Names};
use crate::table::record::{Columns, Record};

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values with a header, as RFC 4180 has them, lines ending in a line feed.
    Csv {
        /// Whether a text that a spreadsheet would take for a formula gets an apostrophe before it.
        escape_formulas: bool,
        /// Whether the file begins with U+FEFF, without which Excel does not take it for UTF-8.
        bom: bool,
    },
    /// One JSON object a line.
    JsonLines,
}

/// U+FEFF in UTF-8.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Writes rows in a format.
#[derive(Debug)]
pub struct Encoder {
    format: Format,
    columns: Columns,
    /// The extra columns of a CSV so far.
    more: Names,
    /// How many of them the header has.
    headed: Option<usize>,
}

impl Encoder {
    /// For rows of which nothing is known yet.
    pub fn new(format: Format) -> Self {
        Self::with(format, Columns::default())
    }

    /// For rows of other columns.
    pub fn with(format: Format, columns: Columns) -> Self {
        Self { format, columns, more: Names::default(), headed: None }
    }

    /// Adds rows to `out`, the first ones with the header before them.
    pub fn encode<'a>(
        &mut self,
        rows: impl Iterator<Item: Into<Record<'a>>> + Clone,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        let columns = self.columns;
        let mut rows = rows.map(Into::into);
        match self.format {
            Format::JsonLines => rows.try_for_each(|record| json_line(columns, record, out)),
            Format::Csv { escape_formulas, bom } => {
                for name in rows.clone().filter_map(|record| record.row.extra).flat_map(|extra| extra.keys())
                {
                    self.more.add(name);
                }
                if bom && self.headed.is_none() {
                    out.extend_from_slice(BOM);
                }
                let mut writer =
                    WriterBuilder::new().flexible(true).terminator(Terminator::Any(b'\n')).from_writer(out);
                if self.headed.is_none() {
                    writer.write_record(header(columns, &self.more, escape_formulas))?;
                    self.headed = Some(self.more.len());
                }
                for Record { days, row } in rows {
                    for day in days.iter().flat_map(|days| [days.from, days.to]) {
                        writer.write_field(day.to_string())?;
                    }
                    if columns.paths {
                        writer.write_field(&*defused(row.path, escape_formulas))?;
                    }
                    let mut digits = itoa::Buffer::new();
                    for count in [row.human, row.ai, row.total] {
                        writer.write_field(digits.format(count))?;
                    }
                    for name in self.more.iter() {
                        let value = row.extra.and_then(|extra| self.more.value(name, extra));
                        let text = value.as_deref().and_then(extras::text).unwrap_or_default();
                        let guard = escape_formulas && value.is_some_and(|value| value.is_string());
                        writer.write_field(&*defused(&text, guard))?;
                    }
                    writer.write_record(None::<&[u8]>)?;
                }
                writer.flush()
            }
        }
    }

    /// What is missing where no row came.
    pub fn end(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        match self.headed {
            None => self.encode(std::iter::empty::<Record<'_>>(), out),
            Some(_) => Ok(()),
        }
    }

    /// Whether rows at the end have fields that those at the beginning do not have: then [`Encoder::mend`] is needed.
    pub fn is_ragged(&self) -> bool {
        self.headed.is_some_and(|headed| headed < self.more.len())
    }

    /// Copies what was written, with empty fields where a field was not known yet.
    pub fn mend(&self, written: impl io::Read, mut mended: impl io::Write) -> io::Result<()> {
        let Format::Csv { escape_formulas, bom } = self.format else {
            return Ok(());
        };
        if bom {
            mended.write_all(BOM)?;
        }
        let mut reader = ReaderBuilder::new().flexible(true).from_reader(written);
        let mut writer = WriterBuilder::new().terminator(Terminator::Any(b'\n')).from_writer(mended);
        writer.write_record(header(self.columns, &self.more, escape_formulas))?;
        let known = self.columns.names().count();
        let mut record = csv::ByteRecord::new();
        while reader.read_byte_record(&mut record)? {
            while record.len() < known + self.more.len() {
                record.push_field(b"");
            }
            writer.write_byte_record(&record)?;
        }
        writer.flush()
    }
}

fn header(columns: Columns, more: &Names, escape_formulas: bool) -> impl Iterator<Item = String> {
    let more = more.iter().map(move |name| defused(&columns.extra(name), escape_formulas).into_owned());
    columns.names().map(str::to_owned).chain(more)
}

/// `text`, so that no spreadsheet runs it.
fn defused(text: &str, guard: bool) -> std::borrow::Cow<'_, str> {
    // The signs and their full-width forms.
    const STARTS: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\0', '＝', '＋', '－', '＠'];
    match guard && text.starts_with(STARTS) {
        true => format!("'{text}").into(),
        false => text.into(),
    }
}

fn json_line(columns: Columns, Record { days, row }: Record<'_>, out: &mut Vec<u8>) -> io::Result<()> {
    out.push(b'{');
    if let Some(days) = days {
        write!(out, r#""date_from":"{}","date_to":"{}","#, days.from, days.to)?;
    }
    if columns.paths {
        out.extend_from_slice(br#""path":"#);
        serde_json::to_writer(&mut *out, row.path)?;
        out.push(b',');
    }
    write!(out, r#""human":{},"ai":{},"total":{}"#, row.human, row.ai, row.total)?;
    for (name, value) in row.extra.into_iter().flatten() {
        out.push(b',');
        serde_json::to_writer(&mut *out, &*columns.extra(Some(name)))?;
        out.push(b':');
        serde_json::to_writer(&mut *out, value)?;
    }
    out.extend_from_slice(b"}\n");
    Ok(())
}
