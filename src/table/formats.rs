//! Rows as CSV and as JSON Lines.

use std::io::{self, Write as _};

use csv::{ReaderBuilder, Terminator, WriterBuilder};
use serde_json::Value;

use crate::listing::columns::Cell;
use crate::listing::rows::{Row, instant};
use crate::table::extras::{self, ExtraNames};
use crate::table::layout::Layout;

#[derive(Debug, Clone, Copy)]
pub enum Format {
    /// Comma-separated values with a header, quoted as in RFC 4180. A line feed ends a line.
    Csv {
        /// Whether a text that a spreadsheet would take for a formula gets an apostrophe before it.
        escape_formulas: bool,
        /// Whether the file begins with U+FEFF, without which Excel does not take it for UTF-8.
        bom: bool,
    },
    JsonLines,
    /// JSON Lines with the service's own names, as pickles have them.
    Pickled,
}

const BOM: &[u8] = b"\xef\xbb\xbf";

#[derive(Debug)]
pub struct Encoder {
    format: Format,
    layout: Layout,
    /// The extra columns of a CSV so far.
    more: ExtraNames,
    /// How many of them the header has.
    headed: Option<usize>,
}

impl Encoder {
    pub fn new(format: Format, layout: Layout) -> Self {
        Self {
            format,
            layout,
            more: ExtraNames::default(),
            headed: None,
        }
    }

    /// Adds rows to `out`, the first ones with the header before them.
    pub fn encode<'a>(
        &mut self,
        mut rows: impl Iterator<Item = Row<'a>> + Clone,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        let layout = self.layout;
        match self.format {
            Format::JsonLines => rows.try_for_each(|row| json_line(layout, row, true, out)),
            Format::Pickled => rows.try_for_each(|row| json_line(layout, row, false, out)),
            Format::Csv {
                escape_formulas,
                bom,
            } => {
                let others = rows.clone().filter_map(|row| row.other);
                for (name, _) in others.flat_map(extras::fields) {
                    self.more.add(name);
                }
                if bom && self.headed.is_none() {
                    out.extend_from_slice(BOM);
                }
                let mut writer = WriterBuilder::new()
                    .flexible(true)
                    .terminator(Terminator::Any(b'\n'))
                    .from_writer(out);
                if self.headed.is_none() {
                    writer.write_record(self.header(escape_formulas))?;
                    self.headed = Some(self.more.len());
                }
                for row in rows {
                    if let Some(days) = row.days.filter(|_| layout.days) {
                        for day in [days.from, days.to] {
                            writer.write_field(day.to_string())?;
                        }
                        writer.write_field(days.count().to_string())?;
                    }
                    for column in 0..layout.fields.len() {
                        write_cell(&mut writer, row.cell(column), escape_formulas)?;
                    }
                    for name in self.more.iter() {
                        let value = row.other.and_then(|other| self.more.value(name, other));
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

    fn header(&self, guard: bool) -> impl Iterator<Item = String> {
        let more = self
            .more
            .iter()
            .map(move |name| defused(&self.layout.extra(name), guard).into_owned());
        self.layout.names().map(str::to_owned).chain(more)
    }

    /// Writes the header if there was no row.
    pub fn end(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        match self.headed {
            None => self.encode(std::iter::empty(), out),
            Some(_) => Ok(()),
        }
    }

    /// Whether rows at the end have fields that those at the beginning do not have: then
    /// [`Encoder::mend`] is needed.
    pub fn is_ragged(&self) -> bool {
        self.headed.is_some_and(|headed| headed < self.more.len())
    }

    /// Copies what was written, with empty fields where a field was not known yet.
    pub fn mend(&self, written: impl io::Read, mut mended: impl io::Write) -> io::Result<()> {
        let Format::Csv {
            escape_formulas,
            bom,
        } = self.format
        else {
            return Ok(());
        };
        if bom {
            mended.write_all(BOM)?;
        }
        let mut reader = ReaderBuilder::new().flexible(true).from_reader(written);
        let mut writer = WriterBuilder::new()
            .terminator(Terminator::Any(b'\n'))
            .from_writer(mended);
        writer.write_record(self.header(escape_formulas))?;
        let known = self.layout.names().count();
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

fn write_cell<W: io::Write>(
    writer: &mut csv::Writer<W>,
    cell: Cell<'_>,
    guard: bool,
) -> csv::Result<()> {
    match cell {
        Cell::Null => writer.write_field(b""),
        Cell::Text(text) | Cell::Json(text) => writer.write_field(&*defused(text, guard)),
        Cell::Integer(number) => writer.write_field(itoa::Buffer::new().format(number)),
        Cell::Float(number) => writer.write_field(Value::from(number).to_string()),
        Cell::Bool(flag) => writer.write_field(if flag { "true" } else { "false" }),
        Cell::Time(micros) => writer.write_field(instant(micros)),
    }
}

/// `text`, made harmless for spreadsheets.
fn defused(text: &str, guard: bool) -> std::borrow::Cow<'_, str> {
    // The signs, their full-width forms, and three control characters.
    const STARTS: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\0', '＝', '＋', '－', '＠'];
    match guard && text.starts_with(STARTS) {
        true => format!("'{text}").into(),
        false => text.into(),
    }
}

/// A row under the service's names, after its days: a missing field is null, and a time is in UTC.
/// `renames`: a field of the service with the name of
/// another column gets a prefix.
fn json_line(layout: Layout, row: Row<'_>, renames: bool, out: &mut Vec<u8>) -> io::Result<()> {
    if let Some(bare) = row.bare() {
        serde_json::to_writer(&mut *out, bare)?;
        out.push(b'\n');
        return Ok(());
    }
    let mut before = b'{';
    let mut begin = |out: &mut Vec<u8>| out.push(std::mem::replace(&mut before, b','));
    if let Some(days) = row.days.filter(|_| layout.days) {
        begin(out);
        write!(
            out,
            r#""date_from":"{}","date_to":"{}","days":{}"#,
            days.from,
            days.to,
            days.count()
        )?;
    }
    for (column, field) in layout.fields.iter().enumerate() {
        begin(out);
        write!(out, r#""{}":"#, field.name)?;
        write_json(row, column, out)?;
    }
    for (name, value) in row.more() {
        begin(out);
        let name = if renames {
            layout.extra(Some(name))
        } else {
            name.into()
        };
        serde_json::to_writer(&mut *out, &*name)?;
        out.push(b':');
        serde_json::to_writer(&mut *out, value)?;
    }
    if before == b'{' {
        out.push(b'{');
    }
    out.extend_from_slice(b"}\n");
    Ok(())
}

fn write_json(row: Row<'_>, column: usize, out: &mut Vec<u8>) -> io::Result<()> {
    match row.cell(column) {
        Cell::Null => match row.misfit(column) {
            Some(value) => serde_json::to_writer(out, value)?,
            None => out.extend_from_slice(b"null"),
        },
        Cell::Text(text) => serde_json::to_writer(out, text)?,
        Cell::Json(text) => out.extend_from_slice(text.as_bytes()),
        Cell::Integer(number) => {
            out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
        }
        Cell::Float(number) => serde_json::to_writer(out, &number)?,
        Cell::Bool(flag) => serde_json::to_writer(out, &flag)?,
        Cell::Time(micros) => serde_json::to_writer(out, &instant(micros))?,
    }
    Ok(())
}
