//! CSV and JSON Lines: what was written reads back equal.

use docplatform::listing::endpoint::VISITORS;
use docplatform::listing::rows::Rows;
use docplatform::table::TableBuilder;
use docplatform::table::formats::{Encoder, Format};
use docplatform::table::layout::Layout;
use proptest::prelude::*;

use crate::any::cases;
use crate::table::columns::{more, rows};

const CSV: Format = Format::Csv {
    escape_formulas: true,
    bom: false,
};
const RAW: Format = Format::Csv {
    escape_formulas: false,
    bom: false,
};

/// Pages of rows, written and mended where that is needed.
pub(crate) fn write(format: Format, pages: &[Rows]) -> Vec<u8> {
    let mut encoder = Encoder::new(format, Layout::of(VISITORS.fields));
    let mut out = Vec::new();
    for page in pages {
        encoder.encode(page.iter(), &mut out).unwrap();
    }
    encoder.end(&mut out).unwrap();
    if !encoder.is_ragged() {
        return out;
    }
    let mut mended = Vec::new();
    encoder.mend(&*out, &mut mended).unwrap();
    mended
}

fn text(format: Format, lines: &[&str]) -> String {
    String::from_utf8(write(format, &[rows(lines)])).unwrap()
}

/// The cells for a reader that knows RFC 4180.
pub(crate) fn read(written: &[u8]) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(written);
    reader
        .records()
        .map(|record| record.unwrap().iter().map(str::to_owned).collect())
        .collect()
}

fn path(path: &str) -> Rows {
    rows(&[&format!(
        r#"{{"path":{},"human":1,"ai":2,"total":3}}"#,
        serde_json::to_string(path).unwrap()
    )])
}

/// Rows: J6.
#[test]
fn csv_is_quoted_as_rfc_4180_has_it() {
    let line = |path: &str| String::from_utf8(write(RAW, &[self::path(path)])).unwrap();
    for (path, written) in [
        ("/plain", "/plain"),
        ("a,b", "\"a,b\""),
        ("a\"b", "\"a\"\"b\""),
        ("\"", "\"\"\"\""),
        ("a\nb", "\"a\nb\""),
        ("a\rb", "\"a\rb\""),
        ("a\r\nb", "\"a\r\nb\""),
        ("a\0b", "a\0b"),
        ("\u{feff}/bom", "\u{feff}/bom"),
        ("/日本/é", "/日本/é"),
        (" a ", " a "),
        ("", ""),
    ] {
        assert_eq!(
            line(path),
            format!("path,human,ai,total\n{written},1,2,3\n"),
            "{path:?}"
        );
    }
}

#[test]
fn no_rows_are_a_header_or_nothing() {
    assert_eq!(write(CSV, &[]), b"path,human,ai,total\n");
    assert_eq!(write(CSV, &[rows(&[])]), b"path,human,ai,total\n");
    assert_eq!(write(Format::JsonLines, &[]), b"");
}

/// Rows: J5.
#[test]
fn what_a_spreadsheet_would_run_gets_an_apostrophe() {
    for start in ["=", "+", "-", "@", "\t", "\r", "\0", "＝", "＋", "－", "＠"] {
        let formula = format!("{start}HYPERLINK(1)");
        assert_eq!(
            read(&write(CSV, &[path(&formula)]))[1][0],
            format!("'{formula}")
        );
        assert_eq!(read(&write(RAW, &[path(&formula)]))[1][0], formula);
        assert!(
            !String::from_utf8(write(Format::JsonLines, &[path(&formula)]))
                .unwrap()
                .contains('\'')
        );
        let inside = format!("/{formula}");
        assert_eq!(read(&write(CSV, &[path(&inside)]))[1][0], inside);
    }
}

/// Rows: J5.
#[test]
fn so_does_whatever_else_the_service_sent_and_no_number() {
    let line = more(
        "/",
        r#","=x":"@SUM(A1)","n":-5,"list":["=1"],"nothing":null"#,
    );
    assert_eq!(
        text(CSV, &[&line]),
        "path,human,ai,total,'=x,n,list,nothing\n/,1,2,3,'@SUM(A1),-5,\"[\"\"=1\"\"]\",\n"
    );
    assert_eq!(
        text(RAW, &[&line]),
        "path,human,ai,total,=x,n,list,nothing\n/,1,2,3,@SUM(A1),-5,\"[\"\"=1\"\"]\",\n"
    );
}

/// Rows: J6.
#[test]
fn a_field_that_comes_late_is_in_the_header_and_empty_before() {
    let pages = [
        rows(&[&more("a,\"\r\n", ""), &more("/b", r#","x":1"#)]),
        rows(&[&more("/c", "")]),
        rows(&[
            &more("/d", r#","late":"l,\n","x":"=2""#),
            &more("/e", r#","later":[]"#),
        ]),
    ];
    let written = write(CSV, &pages);
    assert_eq!(
        read(&written),
        [
            vec!["path", "human", "ai", "total", "x", "late", "later"],
            vec!["a,\"\r\n", "1", "2", "3", "", "", ""],
            vec!["/b", "1", "2", "3", "1", "", ""],
            vec!["/c", "1", "2", "3", "", "", ""],
            vec!["/d", "1", "2", "3", "'=2", "l,\n", ""],
            vec!["/e", "1", "2", "3", "", "", "[]"],
        ]
    );
    let mut builder = TableBuilder::new(Layout::of(VISITORS.fields));
    for page in &pages {
        builder.extend(page);
    }
    let together = builder.finish();
    let (mut at_once, mut unspoiled) = (Vec::new(), Encoder::new(CSV, together.layout));
    unspoiled.encode(together.rows(), &mut at_once).unwrap();
    assert_eq!(read(&at_once), read(&written), "as if all had come at once");
    assert!(!unspoiled.is_ragged());
}

#[test]
fn json_lines_have_numbers_and_order_as_they_were_sent() {
    let line = r#"{"path":"/a\"\n\u2028","human":1,"ai":2,"total":3,"z":1.10,"a":123456789012345678901234567890,"deep":{"y":[1.0,null],"b":true}}"#;
    let expected = line.replace("\\u2028", "\u{2028}");
    assert_eq!(
        text(Format::JsonLines, &[line, line]),
        format!("{expected}\n{expected}\n")
    );
}

proptest! {
    #![proptest_config(cases(256))]

    /// Rows: J6.
    #[test]
    fn any_text_reads_back_equal(
        paths in prop::collection::vec("[\\PC\\x00-\\x1f,\"'\u{feff}]{0,12}", 1..8),
        late in "[\\PC\\x00-\\x1f,\"]{1,6}",
        pages in 1..4_usize,
    ) {
        let json = |text: &str| serde_json::to_string(text).unwrap();
        let lines: Vec<_> = paths
            .iter()
            .enumerate()
            .map(|(at, path)| {
                let extra = if at + 1 == paths.len() { format!(r#","more":{}"#, json(&late)) } else { String::new() };
                format!(r#"{{"path":{},"human":{at},"ai":0,"total":0{extra}}}"#, json(path))
            })
            .collect();
        let lines: Vec<_> = lines.iter().map(String::as_str).collect();
        let pages: Vec<_> = lines.chunks(lines.len().div_ceil(pages)).map(rows).collect();
        let back = read(&write(RAW, &pages));
        prop_assert_eq!(back.len(), paths.len() + 1);
        for (record, path) in back.iter().skip(1).zip(&paths) {
            prop_assert_eq!(&record[0], path);
        }
        prop_assert_eq!(&back[paths.len()][4], &late);

        let jsonl = write(Format::JsonLines, &pages);
        let again: Vec<_> = std::str::from_utf8(&jsonl).unwrap().split_terminator('\n').collect();
        let (again, sent) = (rows(&again), rows(&lines));
        prop_assert_eq!(again, sent);
    }
}
