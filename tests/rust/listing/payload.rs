//! The body of a page: required and optional fields (faults.md, D).

use docplatform::error::{Error, Kind};
use docplatform::export::findings::Finding;
use docplatform::listing::rows::RowsBuilder;
use serde_json::{Map, Value};

use crate::helpers::site::{
    PLAIN, export, integer, page, pager, pager_at, pages, row, start_json, text, turn,
};
use crate::helpers::support::{Script, reply};

#[derive(Debug)]
struct Row {
    path: String,
    human: i64,
    ai: i64,
    total: i64,
    extra: Option<Map<String, Value>>,
}

async fn read(body: impl Into<bytes::Bytes>) -> Result<(Vec<Row>, Vec<Finding>), Error> {
    let script = Script::new([reply(200, body)]);
    let page = turn(&mut pager(&script, 250, PLAIN)).await?.unwrap();
    let own = |row: docplatform::listing::rows::Row<'_>| Row {
        path: text(&row, "path").to_owned(),
        human: integer(&row, "human"),
        ai: integer(&row, "ai"),
        total: integer(&row, "total"),
        extra: row.extra().cloned(),
    };
    Ok((page.rows.iter().map(own).collect(), page.findings))
}

/// Reads a page that must not be readable; the text of the error, which comes at once.
async fn refused(body: &str) -> String {
    let error = read(body.to_owned()).await.expect_err(body);
    assert_eq!(
        (error.kind, error.status, error.attempts.len()),
        (Kind::Response, Some(200), 1),
        "{error}"
    );
    error.to_string()
}

/// Rows: D4.
#[tokio::test(start_paused = true)]
async fn has_more_is_true_or_false_and_nothing_else() {
    let good = page(&[row("/0", 1)], 1, false);
    for bad in ["null", "\"false\"", "0", "1", "[]", "{}", "\"\""] {
        let error =
            refused(&good.replace("\"hasMore\":false", &format!("\"hasMore\":{bad}"))).await;
        assert!(error.contains("hasMore: "), "{error}");
    }
    let error = refused(&good.replace(",\"hasMore\":false", "")).await;
    assert!(error.contains("missing field `hasMore`"), "{error}");
    let error = refused(&good.replace("hasMore", "has_more")).await;
    assert!(error.contains("hasMore"), "{error}");
    for twice in ["true", "false"] {
        let error = refused(&good.replace(
            "\"hasMore\":false",
            &format!("\"hasMore\":false,\"hasMore\":{twice}"),
        ))
        .await;
        assert!(error.contains("duplicate field"), "{error}");
    }
}

/// Rows: D5.
#[tokio::test(start_paused = true)]
async fn a_wrong_type_is_named_with_its_place() {
    let good = page(&[row("/0", 1), row("/1", 2), row("/2", 3)], 6, false);
    for (part, bad, place) in [
        ("\"/2\"", "null", "visitors[2].path: "),
        ("\"/1\"", "5", "visitors[1].path: "),
        ("\"human\":2", "\"human\":\"2\"", "visitors[1].human: "),
        ("\"human\":3", "\"human\":null", "visitors[2].human: "),
        ("\"total\":1}", "\"total\":[1]}", "visitors[0].total: "),
        ("\"total\":6", "\"total\":true", "totals.total: "),
        (&row("/1", 2), "[]", "visitors[1]: "),
        (&row("/0", 1), "null", "visitors[0]: "),
    ] {
        assert!(good.contains(part), "{part}");
        let error = refused(&good.replacen(part, bad, 1)).await;
        assert!(error.contains(place), "{place}: {error}");
    }
    for (part, missing) in [
        ("\"path\":\"/1\",", "path"),
        ("\"human\":2,", "human"),
        (",\"total\":2", "total"),
    ] {
        let error = refused(&good.replacen(part, "", 1)).await;
        assert!(
            error.contains("visitors[1]") && error.contains(&format!("missing field `{missing}`")),
            "{error}"
        );
    }
    let whole = [
        "[]",
        "null",
        "\"x\"",
        "{}",
        "{\"totals\":{},\"visitors\":[],\"hasMore\":false}",
        "{\"totals\":null,\"visitors\":[],\"hasMore\":false}",
        "{\"totals\":{\"human\":1,\"ai\":1,\"total\":1},\"visitors\":{},\"hasMore\":false}",
        "{\"totals\":{\"human\":1,\"ai\":1,\"total\":1},\"hasMore\":false}",
        "{\"visitors\":[],\"hasMore\":false}",
        "",
        "<html>",
    ];
    for body in whole {
        refused(body).await;
    }
}

/// Rows: D6, D7.
#[tokio::test(start_paused = true)]
async fn counts_are_whole_numbers_that_fit() {
    let with = |count: &str| {
        page(
            &[
                row("/0", 1),
                row("/1", 1).replace("\"ai\":0", &format!("\"ai\":{count}")),
            ],
            1,
            false,
        )
    };
    for (text, count) in [
        ("0", 0),
        ("-0", 0),
        ("-0.0", 0),
        ("12.0", 12),
        ("1e2", 100),
        ("1200E-2", 12),
        ("0.0012e+4", 12),
        ("0e999", 0),
        // A float has 53 bits, and a quick reading of one errs in the last.
        ("9007199254740993.0", (1 << 53) + 1),
        ("9.007199254740993e15", (1 << 53) + 1),
        ("9223372036854775807.0", i64::MAX),
        ("9223372036854775807", i64::MAX),
    ] {
        assert_eq!(read(with(text)).await.unwrap().0[1].ai, count, "{text}");
    }
    for bad in [
        "12.5",
        "-1",
        "-1.0",
        "9007199254740992.5",
        "1e-1",
        "1e99999999999999999999",
        "9223372036854775808",
        "9223372036854775808.0",
        "18446744073709551616",
        "99999999999999999999999999",
        "1e400",
        "1e19",
        "\"12\"",
        "true",
        "null",
        "[1]",
        "{}",
    ] {
        let error = refused(&with(bad)).await;
        assert!(error.contains("visitors[1].ai: "), "{bad}: {error}");
    }
    for bad in ["NaN", "-Infinity", "+1", "0x10", "1_000", ".5", "01"] {
        refused(&with(bad)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn no_inequality_is_enforced_between_counts() {
    let odd = row("/0", 1)
        .replace("\"human\":1", "\"human\":7")
        .replace("\"ai\":0", "\"ai\":9");
    let (rows, findings) = read(page(&[odd], 3, false)).await.unwrap();
    assert_eq!((rows[0].human, rows[0].ai, rows[0].total), (7, 9, 1));
    assert_eq!(findings, []);
}

/// Rows: D13.
#[tokio::test(start_paused = true)]
async fn paths_are_kept_as_they_came() {
    let long = format!("/{}", "x".repeat(1 << 20));
    let escaped = [
        ("/nul\\u0000", "/nul\0"),
        ("/line\\nbreak\\r\\t", "/line\nbreak\r\t"),
        ("/\\u202eevil", "/\u{202e}evil"),
        ("/caf\u{e9}", "/caf\u{e9}"),
        ("/cafe\u{301}", "/cafe\u{301}"),
        ("", ""),
        ("/\\ud83d\\ude00", "/\u{1f600}"),
        ("/\\\\ud800", "/\\ud800"),
        ("/%2e%2e/\\/", "/%2e%2e//"),
        (&long, &long),
    ];
    let rows: Vec<_> = escaped.iter().map(|(wire, _)| row(wire, 1)).collect();
    let (rows, findings) = read(page(&rows, 1, false)).await.unwrap();
    let paths: Vec<_> = rows.iter().map(|row| row.path.as_str()).collect();
    assert_eq!(paths, escaped.map(|(_, path)| path));
    assert_eq!(findings, []);
}

/// Rows: D12.
#[tokio::test(start_paused = true)]
async fn an_invalid_character_in_a_path_costs_its_letter_and_not_its_page() {
    let mut rows: Vec<_> = (0..250).map(|n| row(&format!("/{n}"), n)).collect();
    rows[3] = row("/a\\ud800b", 3);
    let body = page(&rows, 1, false);
    let (read_rows, findings) = read(body.clone()).await.unwrap();
    assert_eq!(read_rows.len(), 250);
    assert_eq!(
        (read_rows[3].path.as_str(), read_rows[3].human),
        ("/a\u{fffd}b", 3)
    );
    assert!(
        read_rows
            .iter()
            .enumerate()
            .all(|(n, row)| n == 3 || row.path == format!("/{n}"))
    );
    assert_eq!(findings, [Finding::Repaired(1)]);

    let mut bytes = body.replace("/a\\ud800b", "/a?b").into_bytes();
    let at = bytes.iter().position(|&byte| byte == b'?').unwrap();
    bytes[at] = 0xff;
    let (rows, findings) = read(bytes).await.unwrap();
    assert_eq!(
        (rows[3].path.as_str(), findings),
        ("/a\u{fffd}b", vec![Finding::Repaired(1)])
    );

    let script = pages([
        page(&[row("/\\ud800", 1)], 1, true),
        page(&[row("/\\udc00!", 1)], 1, false),
    ]);
    let export = export(pager(&script, 1, PLAIN)).await.unwrap();
    assert_eq!(
        export.findings,
        [Finding::Repaired(1)],
        "told once, counted twice"
    );
    assert!(
        export.warnings[0].starts_with("2 pages had invalid characters"),
        "{:?}",
        export.warnings
    );
}

/// Rows: D14.
#[tokio::test(start_paused = true)]
async fn unknown_fields_are_kept_aside() {
    let odd = row("/0", 1).replace('}', ",\"bot\":{\"b\":[1, 1e400],\"a\":null},\"Human\":5}");
    let body = page(&[odd], 1, false).replacen('{', "{\"took\":5,\"next\":null, ", 1);
    let (rows, _) = read(body).await.unwrap();
    let extra = rows[0].extra.as_ref().unwrap();
    assert_eq!(
        serde_json::to_string(extra).unwrap(),
        r#"{"bot":{"b":[1,1e+400],"a":null},"Human":5}"#
    );
    assert!(
        read(page(&[row("/0", 1)], 1, false)).await.unwrap().0[0]
            .extra
            .is_none()
    );
}

/// Rows: D11.
#[tokio::test(start_paused = true)]
async fn a_byte_order_mark_is_accepted_once_at_the_start() {
    let body = page(&[row("/0", 1)], 1, false);
    assert!(read(format!("\u{feff}{body}")).await.is_ok());
    refused(&format!("\u{feff}\u{feff}{body}")).await;
    refused(&format!("{body}\u{feff}")).await;
    refused(&format!("{body}{body}")).await;
    refused(&body[..body.len() - 1]).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_nested_without_end_is_an_error_and_no_crash() {
    refused(&"[".repeat(1_000_000)).await;
    refused(&format!("{{\"visitors\":{}", "[".repeat(1_000_000))).await;
}

#[tokio::test(start_paused = true)]
async fn rows_of_unknown_shape_are_kept_whole() {
    let listing = |body: &str| pages([body.to_owned()]);
    let script =
        listing(r#"{"hasMore": false, "visitors": [1, "a", null, {"b": 1.50, "a": {}}], "x": 1}"#);
    let export = export(pager_at(&script, start_json(10), PLAIN))
        .await
        .unwrap();
    assert_eq!(export.paths, ["1", "\"a\"", "null", r#"{"b":1.50,"a":{}}"#]);
    for (body, words) in [
        (r#"{"visitors": []}"#, "missing field `hasMore`"),
        (r#"{"hasMore": false}"#, "missing field `visitors`"),
        (
            r#"{"hasMore": 0, "visitors": []}"#,
            "hasMore: invalid type: integer `0`, expected a boolean",
        ),
        (
            r#"{"hasMore": null, "visitors": []}"#,
            "hasMore: invalid type: null, expected a boolean",
        ),
        (
            r#"{"hasMore": false, "visitors": {}}"#,
            "visitors: invalid type: map, expected an array",
        ),
        ("[]", "invalid type: sequence, expected an object"),
    ] {
        let mut pager = pager_at(&listing(body), start_json(10), PLAIN);
        let error = turn(&mut pager).await.unwrap_err();
        assert_eq!(error.kind, Kind::Response);
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn rows_are_selected_by_their_places() {
    let of = |numbers: &[u32]| {
        let mut rows = RowsBuilder::new(&[], None, 0);
        for number in numbers {
            rows.read_line(number.to_string().as_bytes()).unwrap();
        }
        rows.finish()
    };
    for keep in [
        &[][..],
        &[0],
        &[0, 2, 4],
        &[1, 2, 3],
        &[4],
        &[0, 1, 2, 3, 4],
    ] {
        let mut rows = of(&[0, 1, 2, 3, 4]);
        rows.select(keep);
        assert_eq!(rows, of(keep));
    }
}
