//! Options: the environment, and the errors that name where a value came from.

use std::ffi::OsString;
use std::path::PathBuf;

use docplatform::config::account::{Organization, Owner, Terms};
use docplatform::config::{ENV_API_KEY, ENV_API_KEY_FILE, ENV_PROJECT_ID, Options, StoreSettings};

const ENV_BASE_URL: &str = "DOCPLATFORM_BASE_URL";
const ENV_REQUESTS_PER_HOUR: &str = "DOCPLATFORM_REQUESTS_PER_HOUR";
const ENV_RESERVE: &str = "DOCPLATFORM_RESERVE";
const ENV_STORE: &str = "DOCPLATFORM_STORE";
const ENV_ORGANIZATION: &str = "DOCPLATFORM_ORGANIZATION";

fn options() -> Options {
    Options {
        api_key: Some("dp_0123456789abcdefghij".into()),
        base_url: Some("https://docs.example.com".to_owned()),
        ..Options::default()
    }
}

fn message(options: &Options) -> String {
    options.validate(|_| None).unwrap_err().to_string()
}

#[test]
fn the_environment_stands_in() {
    let env = |name: &str| {
        let value = match name {
            ENV_API_KEY => "dp_key",
            ENV_BASE_URL => "https://env.example.com",
            ENV_PROJECT_ID => "from-env",
            ENV_REQUESTS_PER_HOUR => "100",
            ENV_RESERVE => "10",
            ENV_STORE => "/env.db",
            ENV_ORGANIZATION => "acme",
            _ => return None,
        };
        Some(value.into())
    };
    let settings = Options::default().validate(env).unwrap();
    assert_eq!(settings.base_url.as_str(), "https://env.example.com");
    assert_eq!(settings.project_id.unwrap().as_str(), "from-env");
    assert_eq!(
        settings.terms,
        Some(Terms {
            per_hour: 100,
            reserve: 10,
            patience: 90_000
        })
    );
    let organization = Organization::Name("acme".to_owned());
    let owner = Owner {
        base_url: "https://env.example.com".to_owned(),
        organization,
    };
    assert_eq!(
        settings.store,
        Some(StoreSettings {
            path: "/env.db".into(),
            owner
        })
    );
    let given = Options {
        reserve: Some(0),
        store: Some("/given.db".into()),
        ..options()
    };
    let settings = given.validate(env).unwrap();
    assert_eq!(
        settings.terms,
        Some(Terms {
            per_hour: 100,
            reserve: 0,
            patience: 90_000
        })
    );
    assert_eq!(settings.store.unwrap().path, PathBuf::from("/given.db"));
    let none = Options {
        store: Some(PathBuf::new()),
        ..options()
    }
    .validate(env)
    .unwrap();
    assert_eq!(none.store, None, "none, whatever the environment says");
    let settings = Options {
        project_id: Some("given".to_owned()),
        ..options()
    }
    .validate(env)
    .unwrap();
    assert_eq!(settings.project_id.unwrap().as_str(), "given");
    assert_eq!(settings.base_url.as_str(), "https://docs.example.com");
}

#[cfg(unix)]
#[test]
fn a_wrong_setting_is_named_as_it_was_given() {
    use std::os::unix::ffi::OsStringExt as _;
    let settings = [
        (
            "api_key",
            ENV_API_KEY,
            " dp_key",
            "has white space around it",
        ),
        (
            "base_url",
            ENV_BASE_URL,
            "https://docs.example.com\n",
            "has white space around it",
        ),
        (
            "project_id",
            ENV_PROJECT_ID,
            "demo ",
            "has white space around it",
        ),
        (
            "organization",
            ENV_ORGANIZATION,
            "acme ",
            "has white space around it",
        ),
        (
            "project_id",
            ENV_PROJECT_ID,
            "de\u{fffd}mo",
            "contains U+FFFD",
        ),
    ];
    for (setting, variable, bad, why) in settings {
        let mut given = options();
        match setting {
            "api_key" => given.api_key = Some(bad.into()),
            "base_url" => given.base_url = Some(bad.to_owned()),
            "organization" => given.organization = Some(bad.to_owned()),
            _ => given.project_id = Some(bad.to_owned()),
        }
        let error = message(&given);
        assert!(error.starts_with(&format!("{setting} {why}")), "{error}");

        let unset = Options {
            api_key: None,
            base_url: None,
            ..Options::default()
        };
        let env = |bad: OsString| {
            move |name: &str| match name {
                _ if name == variable => Some(bad.clone()),
                ENV_API_KEY => Some("dp_key".into()),
                ENV_BASE_URL => Some("https://docs.example.com".into()),
                _ => None,
            }
        };
        let error = unset.validate(env(bad.into())).unwrap_err();
        assert!(
            error.to_string().starts_with(&format!("{variable} {why}")),
            "{error}"
        );
        let error = unset
            .validate(env(OsString::from_vec(b"pr\xffd".to_vec())))
            .unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with(&format!("{variable} holds bytes that are not")),
            "{error}"
        );
    }
}

#[test]
fn a_wrong_setting_names_the_variable_it_came_from() {
    let wrong = |variables: &[(&str, &str)]| {
        let env = |name: &str| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| value.into())
        };
        options().validate(env).unwrap_err().to_string()
    };
    for bad in ["many", "-1", "1.5"] {
        let error = wrong(&[(ENV_REQUESTS_PER_HOUR, bad)]);
        assert!(
            error.starts_with("DOCPLATFORM_REQUESTS_PER_HOUR must be a whole number"),
            "{error}"
        );
    }
    let error = wrong(&[(ENV_RESERVE, "5")]);
    assert!(
        error.starts_with("DOCPLATFORM_RESERVE is a part of requests_per_hour"),
        "{error}"
    );
    let error = wrong(&[(ENV_RESERVE, "5"), (ENV_REQUESTS_PER_HOUR, "5")]);
    assert!(
        error.starts_with("DOCPLATFORM_RESERVE must be less than DOCPLATFORM_REQUESTS_PER_HOUR"),
        "{error}"
    );
    let error = wrong(&[(ENV_ORGANIZATION, "a\nb")]);
    assert!(
        error.starts_with("DOCPLATFORM_ORGANIZATION must be a name"),
        "{error}"
    );
    let error = wrong(&[(ENV_STORE, ":memory:")]);
    assert!(
        error.starts_with("DOCPLATFORM_STORE is \":memory:\", but a store is a file"),
        "{error}"
    );
    let error = message(&Options {
        store: Some(":memory:".into()),
        ..options()
    });
    assert!(
        error.starts_with("store is \":memory:\", but a store is a file"),
        "{error}"
    );
}

#[cfg(unix)]
#[test]
fn the_key_may_stand_in_a_file_that_nobody_else_can_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let file = std::env::temp_dir().join(format!("docplatform-key-{}", std::process::id()));
    let env = |name: &str| (name == ENV_API_KEY_FILE).then(|| file.clone().into_os_string());
    let read = || {
        Options {
            api_key: None,
            ..options()
        }
        .validate(env)
    };
    let error = read().unwrap_err();
    assert!(
        error.to_string().starts_with("DOCPLATFORM_API_KEY_FILE: "),
        "{error}"
    );
    std::fs::write(&file, "dp_0123456789abcdefghij\n").unwrap();
    for (mode, is_read) in [(0o600, true), (0o640, false), (0o604, false)] {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(read().is_ok(), is_read, "{mode:o}");
    }
    assert!(read().unwrap_err().to_string().contains("chmod 600"));
    let key = "dp_key".to_owned();
    assert_eq!(
        Options {
            api_key: Some(key.into()),
            ..options()
        }
        .validate(env)
        .unwrap()
        .api_key_from,
        None
    );
    std::fs::remove_file(&file).unwrap();
}

/// Rows: G9.
#[test]
fn bad_keys_are_refused_and_never_shown() {
    for bad in [
        "",
        "dp_secret\n",
        "dp_se cret",
        "dp_secret\0",
        "dp_sécret",
        "Bearer dp_secret",
        "bearer dp_secret",
        "\"dp_secret\"",
        "'dp_secret'",
        "dp_\u{7f}secret",
    ] {
        let error = message(&Options {
            api_key: Some(bad.into()),
            ..options()
        });
        assert!(
            !error.contains("secret") && !error.contains("sécret"),
            "{error}"
        );
    }
    // Nor is a key in place of the name of its file.
    for (name, is_shown) in [
        ("dp_secret0123456789abcdef", false),
        ("dp_secret0123456789/abcdef", false),
        ("/run/dp_secret0123456789abcdef", true),
        ("dp_secret0123456789abcdef.txt", true),
    ] {
        let env = |variable: &str| (variable == ENV_API_KEY_FILE).then(|| name.into());
        let error = Options {
            api_key: None,
            ..options()
        }
        .validate(env)
        .unwrap_err();
        assert!(
            error.to_string().starts_with("DOCPLATFORM_API_KEY_FILE: "),
            "{error}"
        );
        assert_eq!(error.to_string().contains("secret"), is_shown, "{error}");
    }
}

/// Rows: H8.
#[test]
fn settings_print_no_secret() {
    let settings = Options {
        headers: vec![("x-team".to_owned(), "hush".into())],
        proxy: Some("http://user:hush@proxy:1".into()),
        ..options()
    }
    .validate(|_| None)
    .unwrap();
    let shown = format!("{settings:?}");
    assert!(
        !shown.contains("0123456789") && !shown.contains("hush"),
        "{shown}"
    );
    assert_eq!(settings.api_key.unwrap().hint(), Some("ghij"));
}
