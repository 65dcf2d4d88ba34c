//! Rows as columns: the four that each row has, and extra fields.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array as _, RecordBatch};
use docplatform::dates::slices::Slice;
use docplatform::listing::columns::Cell;
use docplatform::listing::endpoint::ColumnKind;
use docplatform::listing::endpoint::VISITORS;
use docplatform::listing::rows::{Rows, RowsBuilder};
use docplatform::table::extras::{self, MAX_COLUMNS, OTHERS};
use docplatform::table::formats::{Encoder, Format};
use docplatform::table::layout::Layout;
use docplatform::table::{Table, TableBuilder};

use crate::helpers::site::{integer, text};

/// Rows as the service writes them, one a line.
pub(crate) fn rows(lines: &[&str]) -> Rows {
    let mut rows = RowsBuilder::new(VISITORS.fields, VISITORS.key, 0);
    for line in lines {
        rows.read_line(line.as_bytes()).unwrap();
    }
    rows.finish()
}

/// A builder for visitors of one range.
fn builder() -> TableBuilder {
    TableBuilder::new(Layout::of(VISITORS.fields))
}

/// A row with what else there is of it.
pub(crate) fn more(path: &str, more: &str) -> String {
    format!(r#"{{"path":{path:?},"human":1,"ai":2,"total":3{more}}}"#)
}

/// A table of rows that have `values` under the name `x`.
fn table_of(values: &[&str]) -> Table {
    let lines: Vec<_> = values
        .iter()
        .map(|value| {
            if value.is_empty() {
                more("/", "")
            } else {
                more("/", &format!(r#","x":{value}"#))
            }
        })
        .collect();
    let mut builder = builder();
    builder.extend(&rows(&lines.iter().map(String::as_str).collect::<Vec<_>>()));
    builder.finish()
}

fn batches(table: &Table) -> Vec<RecordBatch> {
    table.reader().unwrap().collect::<Result<_, _>>().unwrap()
}

/// `count` plain rows, numbered from `start`.
fn plain(start: i64, count: i64) -> Rows {
    let mut rows = RowsBuilder::new(VISITORS.fields, VISITORS.key, 0);
    for number in start..start + count {
        let path = format!("/{number}");
        rows.push([
            Cell::Text(&path),
            Cell::Integer(number),
            Cell::Integer(-number),
            Cell::Integer(7),
        ]);
    }
    rows.finish()
}

#[test]
fn every_row_is_found_on_both_sides_of_each_border() {
    // 64 Ki rows a batch; pages of 250 do not divide that, pages of 256 do.
    for page in [250, 256] {
        for rows in [page, 65_536 - 1, 65_536, 65_536 + 1, 2 * 65_536 + 3] {
            let mut builder = builder();
            let mut start = 0;
            while start < rows {
                let count = page.min(rows - start);
                builder.extend(&plain(start, count));
                start += count;
                assert_eq!(builder.len().cast_signed() as i64, start);
            }
            let table = builder.finish();
            assert_eq!(table.len().cast_signed() as i64, rows);
            let all = batches(&table);
            assert!(
                all.iter()
                    .all(|batch| (1..=65_536).contains(&batch.num_rows()))
            );
            assert_eq!(
                all.iter().map(RecordBatch::num_rows).sum::<usize>(),
                table.len()
            );
            let human: Vec<_> = table.integers("human").unwrap().concat();
            assert!(human.iter().copied().eq(0..rows));
            let borders = all.iter().scan(0, |end, batch| {
                *end += batch.num_rows();
                Some(*end)
            });
            for at in borders
                .flat_map(|end| [end - 1, end])
                .chain([0])
                .filter(|at| *at < table.len())
            {
                let number = at.cast_signed() as i64;
                let row = table.row(at).unwrap();
                assert_eq!(text(&row, "path"), format!("/{at}"));
                assert_eq!(
                    (integer(&row, "human"), integer(&row, "ai")),
                    (number, -number)
                );
            }
            assert!(table.row(table.len()).is_none());
            assert!(
                table
                    .rows()
                    .zip(0_i64..)
                    .all(|(row, number)| integer(&row, "human") == number)
            );
        }
    }
}

#[test]
fn extras_keep_to_their_rows_across_batches() {
    let mut builder = builder();
    builder.extend(&plain(0, 65_536));
    builder.extend(&rows(&[
        &more("/a", r#","x":1"#),
        &more("/b", ""),
        &more("/c", r#","x":3,"late":true"#),
    ]));
    let table = builder.finish();
    let all = batches(&table);
    assert_eq!(all.len(), 2);
    for batch in &all {
        assert_eq!(batch.schema(), table.schema().unwrap());
        assert_eq!(batch.num_columns(), 6);
    }
    assert_eq!(all[0].column(4).null_count(), 65_536);
    let x = all[1].column(4).as_primitive::<Int64Type>();
    assert_eq!(x.iter().collect::<Vec<_>>(), [Some(1), None, Some(3)]);
    let late = all[1].column(5).as_boolean();
    assert_eq!(late.iter().collect::<Vec<_>>(), [None, None, Some(true)]);
    assert!(table.row(65_537).unwrap().extra().is_none());
    assert_eq!(table.row(65_538).unwrap().extra().unwrap()["x"], 3);
}

#[test]
fn a_column_holds_whatever_came_in_it() {
    for (values, kind) in [
        (vec!["1", "-2", "null", ""], ColumnKind::Integer),
        (
            vec!["9223372036854775807", "-9223372036854775808"],
            ColumnKind::Integer,
        ),
        (vec!["1", "2.5"], ColumnKind::Float),
        (vec!["9007199254740992", "2.5"], ColumnKind::Float),
        // A whole number that a float would change.
        (vec!["9007199254740993", "2.5"], ColumnKind::Text),
        (vec!["1e3"], ColumnKind::Float),
        (vec!["true", "null", "false"], ColumnKind::Bool),
        (vec![r#""a""#, "null"], ColumnKind::Text),
        (vec!["null", ""], ColumnKind::Text),
        // One more than an integer can keep, and a number of thirty digits.
        (vec!["9223372036854775808"], ColumnKind::Text),
        (
            vec!["1", "123456789012345678901234567890"],
            ColumnKind::Text,
        ),
        (vec!["1e999"], ColumnKind::Text),
        (vec!["1", "true"], ColumnKind::Text),
        (vec!["1", r#""1""#], ColumnKind::Text),
        (vec!["[1]"], ColumnKind::Text),
        (vec![r#"{"a":{"b":null}}"#, "2"], ColumnKind::Text),
    ] {
        let table = table_of(&values);
        let columns = extras::columns(table.others());
        assert_eq!(
            columns.iter().map(|column| column.kind).collect::<Vec<_>>(),
            [kind],
            "{values:?}"
        );
        let column = batches(&table)[0].column(4).clone();
        let nulls = values
            .iter()
            .filter(|value| matches!(**value, "null" | ""))
            .count();
        assert_eq!(column.null_count(), nulls, "{values:?}");
    }
}

#[test]
fn what_is_deeper_or_mixed_is_json_text_with_all_its_digits() {
    let column = |values: &[&str]| {
        let column = batches(&table_of(values))[0].column(4).clone();
        column
            .as_string::<i32>()
            .iter()
            .map(|value| value.map(str::to_owned))
            .collect::<Vec<_>>()
    };
    let some = |texts: &[&str]| {
        texts
            .iter()
            .map(|text| Some((*text).to_owned()))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        column(&[
            r#"{"b":1.10,"a":[1e5,null]}"#,
            r#""a\u0000\"b""#,
            "18446744073709551616",
            "true"
        ]),
        some(&[
            r#"{"b":1.10,"a":[1e+5,null]}"#,
            "a\0\"b",
            "18446744073709551616",
            "true"
        ])
    );
    assert_eq!(column(&["null", r#""""#]), [None, Some(String::new())]);
}

#[test]
fn numbers_of_both_kinds_are_floats() {
    let column = batches(&table_of(&["1", "2.5", "", "-0.0"]))[0]
        .column(4)
        .clone();
    let values: Vec<_> = column.as_primitive::<Float64Type>().iter().collect();
    assert_eq!(values, [Some(1.0), Some(2.5), None, Some(-0.0)]);
}

#[test]
fn columns_stand_in_the_order_in_which_they_came() {
    let mut builder = builder();
    builder.extend(&rows(&[
        &more("/", r#","z":1,"b":2"#),
        &more("/", r#","a":1,"z":null"#),
    ]));
    builder.extend(&rows(&[&more("/", r#","b":2,"":3"#)]));
    let table = builder.finish();
    let names: Vec<_> = table
        .schema()
        .unwrap()
        .fields()
        .iter()
        .skip(4)
        .map(|field| field.name().clone())
        .collect();
    assert_eq!(names, ["z", "b", "a", ""]);
}

/// Rows: M6.
#[test]
fn rows_that_cannot_be_columns_are_an_error_and_not_left_out() {
    let mut builder = TableBuilder::new(Layout {
        days: true,
        fields: VISITORS.fields,
    });
    builder.extend(&plain(0, 3));
    // Their slice was never ended: they have no days.
    let table = builder.finish();
    for error in [table.schema().err(), table.reader().err()] {
        assert!(
            error
                .unwrap()
                .to_string()
                .contains("a row of a table has no days")
        );
    }
}

/// Rows: M7.
#[test]
fn a_field_named_as_a_column_of_ours_stands_beside_it() {
    let line = more(
        "/",
        r#","date_from":"theirs","service_date_from":1,"date_to":2,"other_fields":3,"date":4"#,
    );
    let mut builder = TableBuilder::new(Layout {
        days: true,
        fields: VISITORS.fields,
    });
    builder.extend(&rows(&[&line]));
    builder.end_slice(Slice {
        from: "2026-01-01".parse().unwrap(),
        to: "2026-01-02".parse().unwrap(),
    });
    let table = builder.finish();
    let names = [
        "date_from",
        "date_to",
        "days",
        "path",
        "human",
        "ai",
        "total",
        "service_date_from",
        "service_service_date_from",
        "service_date_to",
        "service_other_fields",
        "date",
    ];
    let fields: Vec<_> = table
        .schema()
        .unwrap()
        .fields()
        .iter()
        .map(|field| field.name().clone())
        .collect();
    assert_eq!(fields, names);
    assert_eq!(
        batches(&table)[0].column(7).as_string::<i32>().value(0),
        "theirs"
    );
    for format in [
        Format::Csv {
            escape_formulas: true,
            bom: false,
        },
        Format::JsonLines,
    ] {
        let mut written = Vec::new();
        Encoder::new(format, table.layout)
            .encode(table.rows(), &mut written)
            .unwrap();
        let written = String::from_utf8(written).unwrap();
        let first = written.lines().next().unwrap();
        let read: Vec<_> = match format {
            Format::Csv { .. } => first.split(',').map(str::to_owned).collect(),
            Format::JsonLines | Format::Pickled => {
                let doubled = names
                    .iter()
                    .filter(|name| first.matches(&format!("\"{name}\":")).count() != 1);
                assert_eq!(doubled.count(), 0, "{first}");
                let row: serde_json::Map<_, _> = serde_json::from_str(first).unwrap();
                row.keys().cloned().collect()
            }
        };
        assert_eq!(read, names);
    }
}

/// Rows: M7.
#[test]
fn ten_thousand_names_have_a_hundred_columns_and_one_for_the_others() {
    let lines: Vec<_> = (0..10_000)
        .map(|n| more("/", &format!(r#","x{n}":{n}"#)))
        .collect();
    let lines: Vec<_> = lines.iter().map(String::as_str).collect();
    let pages: Vec<_> = lines.chunks(250).map(rows).collect();
    let mut builder = builder();
    for page in &pages {
        builder.extend(page);
    }
    let table = builder.finish();
    let batch = &batches(&table)[0];
    assert_eq!(batch.num_columns(), 4 + MAX_COLUMNS + 1);
    assert_eq!(batch.schema().field(4 + MAX_COLUMNS).name(), OTHERS);
    let others = batch.column(4 + MAX_COLUMNS).as_string::<i32>();
    assert_eq!(
        (others.null_count(), others.value(9_999)),
        (MAX_COLUMNS, r#"{"x9999":9999}"#)
    );
    // A file that is written page by page has the same columns.
    let csv = crate::table::formats::read(&crate::table::formats::write(
        Format::Csv {
            escape_formulas: true,
            bom: false,
        },
        &pages,
    ));
    assert_eq!((csv.len(), csv[0].len()), (10_001, 4 + MAX_COLUMNS + 1));
    assert_eq!(csv[0].last().unwrap(), OTHERS);
    assert_eq!(
        (csv[1][4].as_str(), csv[10_000].last().unwrap().as_str()),
        ("0", r#"{"x9999":9999}"#)
    );
}

#[test]
fn arrow_has_the_rows_in_the_tables_own_memory() {
    let mut builder = builder();
    builder.extend(&plain(0, 100));
    let table = builder.finish();
    let own: Vec<_> = table
        .integers("total")
        .unwrap()
        .into_iter()
        .map(<[i64]>::as_ptr)
        .collect();
    for _ in 0..2 {
        let all = batches(&table);
        let read: Vec<_> = all
            .iter()
            .map(|batch| {
                batch
                    .column(3)
                    .as_primitive::<Int64Type>()
                    .values()
                    .as_ptr()
            })
            .collect();
        assert_eq!(read, own);
    }
}

#[test]
fn rows_are_ranked_by_any_column_of_numbers_or_times() {
    let table = table_of(&["1.5", "-2", "", "null", "3", "-2.5", "3"]);
    assert_eq!(table.ranked("x").unwrap(), [4, 6, 0, 1, 5, 2, 3]);
    let wrong = table.ranked("path").unwrap_err().to_string();
    assert_eq!(
        wrong,
        "by must be a column of numbers or times (human, ai, total, x); it is \"path\""
    );
    assert_eq!(table_of(&["1", "\"2\""]).ranked("total").unwrap(), [0, 1]);
    assert!(table_of(&["1", "\"2\""]).ranked("x").is_err());
    let mut builder = TableBuilder::new(Layout {
        days: true,
        fields: VISITORS.fields,
    });
    for (day, until, start) in [
        ("2026-01-02", "2026-01-03", 0),
        ("2026-01-01", "2026-01-02", 5),
    ] {
        builder.extend(&plain(start, 2));
        builder.end_slice(Slice::parse(day, until).unwrap());
    }
    let table = builder.finish();
    assert_eq!(table.ranked("date_from").unwrap(), [0, 1, 2, 3]);
    let taken = table.take(&[3, 2, 0]);
    let days: Vec<_> = taken
        .days(0..3)
        .map(|days| days.unwrap().from.day())
        .collect();
    assert_eq!(days, [1, 1, 2]);
}
