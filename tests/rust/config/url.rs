//! Base URLs, paths and ids.

use docplatform::config::url::{BaseUrl, Segment, Template};

/// Rows: G8.
#[test]
fn ids_that_could_change_the_path_are_refused() {
    let long = "x".repeat(257);
    for bad in [
        "",
        ".",
        "..",
        "../a",
        "a?b",
        "a#b",
        "%2e%2e",
        "//host",
        "\\\\host",
        "a\r\nb",
        "a b",
        "a\u{a0}b",
        "\0",
        "a\u{fffd}b",
        &long,
    ] {
        assert!(Segment::parse("job id", bad).is_err(), "{bad:?}");
    }
    for good in ["a", "...", "prj_1-2~3", "é:@&=+$,;'", &"x".repeat(256)] {
        assert_eq!(Segment::parse("job id", good).unwrap().as_str(), good);
    }
}

/// Rows: G4, G7.
#[test]
fn base_urls() {
    for bad in [
        "",
        "docs.example.com",
        "ftp://docs.example.com",
        "https://",
        "https://user@docs.example.com",
        "https://@docs.example.com",
        "https://user:pw@docs.example.com",
        "https://docs.example.com?x=1",
        "https://docs.example.com/#x",
        "https:\\\\docs.example.com",
        "https://docs.example.com\t",
        "https://docs.example.com/a b",
        "https://docs.exаmple.com", // a Cyrillic а
        "http://docs.example.com",
        "http://127.0.0.1.nip.io",
        "http://localhost.evil.com",
        "http://0.0.0.0",
        "http://[::ffff:127.0.0.1]",
        "http://2130706433",
        "http://0x7f.1",
        "http://127.1",
        "http://localhost.",
        "http://10.0.0.1",
    ] {
        assert!(BaseUrl::parse("base_url", bad, false).is_err(), "{bad:?}");
    }
    for good in [
        "https://docs.example.com",
        "https://docs.example.com/api/",
        "https://10.0.0.1:8443",
        "http://127.0.0.1:8000",
        "http://127.9.9.9",
        "http://[::1]:80",
        "http://LocalHost:1/api",
    ] {
        assert!(BaseUrl::parse("base_url", good, false).is_ok(), "{good:?}");
    }
    assert!(BaseUrl::parse("base_url", "http://docs.example.com", true).is_ok());
    for (url, shown) in [
        ("https://docs.example.com/api", "docs.example.com:443"),
        ("https://docs.example.com:8443", "docs.example.com:8443"),
        ("http://127.0.0.1", "127.0.0.1:80"),
        ("http://[::1]", "[::1]:80"),
        ("http://[::1]:8000", "[::1]:8000"),
    ] {
        assert_eq!(
            BaseUrl::parse("base_url", url, false)
                .unwrap()
                .host_and_port(),
            shown
        );
    }
    let error = BaseUrl::parse("base_url", "https://docs.exаmple.com", false).unwrap_err();
    assert!(error.to_string().contains("xn--"), "{error}");
}

#[test]
fn urls_are_the_base_and_the_filled_template() {
    let base = BaseUrl::parse("base_url", "https://docs.example.com/api/", false).unwrap();
    let template = Template::parse("path", "/v2/agent/{project_id}/job/{id}").unwrap();
    let project = Segment::parse("project_id", "a&b=é").unwrap();
    let id = Segment::parse("job", "1:2").unwrap();
    let query = [(
        "dateFrom".to_owned(),
        "2026-01-01T00:00:00+02:00".to_owned(),
    )];
    assert_eq!(
        base.join(&template, Some(&project), Some(&id), &query)
            .unwrap()
            .as_str(),
        "https://docs.example.com/api/v2/agent/a%26b%3D%C3%A9/job/1%3A2?dateFrom=2026-01-01T00%3A00%3A00%2B02%3A00"
    );
    assert!(base.join(&template, None, Some(&id), &[]).is_err());
}

/// Rows: G8.
#[test]
fn templates_that_could_change_the_host_are_refused() {
    for bad in [
        "",
        "v2/x",
        "//evil.example/{id}",
        "/a/../b",
        "/a//b",
        "/a?b",
        "/{other}",
        "/a%2f",
        "/a/",
        "/\u{fffd}",
    ] {
        assert!(Template::parse("job_path", bad).is_err(), "{bad:?}");
    }
}
